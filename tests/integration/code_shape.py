"""The functions and classes of C++ sources as clang-format lays them out: how long they are, how many they have."""

import re

# What stands where a type would be looked for, and is none of it.
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
                             re.S)
ANNOTATION = re.compile(r"\bABSL_\w+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|\[\[\w+\]\]|\balignas\([^()]*\)|\b__\w+__\b(?:\([^()]*\))?")
TEMPLATE_HEAD = re.compile(r"^\s*template\s*<")
TYPE_HEAD = re.compile(r"\b(class|struct|union)\s+([\w:]+)[^()=]*$")


def blank(text):
    """The same text, line for line, without comments, literals and preprocessor lines."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = COMMENT_OR_TEXT.sub(spaces, text)
    return re.sub(r"(?m)^[ \t]*#(?:.*\\\n)*.*$", spaces, text)


def without_template_arguments(text):
    """Arguments in <> go, from the inside out; comparisons are left alone by asking for a name before."""
    while True:
        shorter = re.sub(r"(\w)\s*<[^<>;{}]*>", r"\1", text)
        if shorter == text:
            return text
        text = shorter


def head_kind(head):
    """What the block begins that follows this text: "namespace", ("type", name), "function", or "other"."""
    head = ANNOTATION.sub(" ", head).strip()
    if re.search(r"\bnamespace\b[^()]*$", head) or head.startswith("extern"):
        return "namespace"
    if TEMPLATE_HEAD.match(head):
        head = without_template_arguments(head)
    flat = without_template_arguments(head)
    if re.search(r"\benum\b", flat):
        return "other"
    match = TYPE_HEAD.search(flat)
    if match:
        return "type", match.group(2)
    if ")" in flat and not re.search(r"=\s*$", flat):
        return "function"
    return "other"


class Shape:
    """functions: (line, name, lines of its body); classes: (line, name, names of its member functions)."""

    def __init__(self, text):
        self.functions, self.classes = [], []
        self._text = blank(text)
        self._walk()

    def _walk(self):
        stack = []  # of [kind, line, name, members]
        head, line = "", 1
        for character in self._text:
            if character == "\n":
                line += 1
            inside_code = any(entry[0] in ("function", "other") for entry in stack)
            if character == "{":
                kind = "other" if inside_code else head_kind(head)
                name = re.search(r"([~\w:]+|operator[^\s(]+)\s*\(", without_template_arguments(ANNOTATION.sub(" ", head)))
                if isinstance(kind, tuple):
                    stack.append(["type", line, kind[1], []])
                    head = ""
                else:
                    stack.append([kind, line, name.group(1) if name and kind == "function" else "", None])
                    if kind == "function" and len(stack) > 1 and stack[-2][0] == "type":
                        stack[-2][3].append(stack[-1][2])
                    if kind != "other" or inside_code:
                        head = ""
            elif character == "}":
                if not stack:
                    continue
                kind, began, name, members = stack.pop()
                if kind == "function":
                    self.functions.append((began, name, line - began + 1))
                if kind == "type":
                    self.classes.append((began, name, members))
                if kind in ("function", "namespace"):
                    head = ""
            elif character == ";":
                if stack and stack[-1][0] == "type":
                    self._declare(head, stack[-1][3])
                if not inside_code:
                    head = ""
            elif not inside_code:
                head += character

    @staticmethod
    def _declare(head, members):
        head = re.sub(r"\b(public|private|protected)\s*:", " ", ANNOTATION.sub(" ", head)).strip()
        if re.match(r"(friend|using|typedef|static_assert)\b", head) or re.search(r"=\s*(delete|default)\s*$", head):
            return
        flat = without_template_arguments(head)
        flat = re.split(r"(?<![=!<>+*/|&^-])=(?!=)", flat)[0] if "operator" not in flat else flat
        match = re.search(r"(~?\w+|operator\s*[^\s(]+)\s*\(", flat)
        if match:
            members.append(match.group(1))


def longest(shape, most):
    return [(line, name, lines) for line, name, lines in shape.functions if lines > most]


def largest(shape, most):
    return [(line, name, len(members)) for line, name, members in shape.classes if len(members) > most]
