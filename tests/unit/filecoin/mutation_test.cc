// Every field of every message, cut, flipped, duplicated, replaced and left out, thousands of cases. Each is refused,
// the values included that no circuit sees because they repeat others; only the wrapper of a C1 has numbers that are
// nobody's.

#include <gtest/gtest.h>

#include "core/filecoin/format/base64.h"
#include "core/filecoin/types/path_shape.h"
#include "tests/unit/filecoin/samples.h"

namespace cuzk::filecoin {
namespace {

using testing_support::ParseAndCheck;
using testing_support::Recorded;

/// A piece of a message: a value, or a container with its brackets.
struct Piece {
  size_t begin, end;
};

/// The message without, with more, or with another piece.
std::vector<std::string> Changed(const std::string& text, Piece piece, Piece other,
                                 const std::vector<std::string>& odd) {
  std::string before = text.substr(0, piece.begin), value = text.substr(piece.begin, piece.end - piece.begin),
              after = text.substr(piece.end);
  std::vector<std::string> all = {before, StrCat(before, after), StrCat(before, value, value, after),
                                  StrCat(before, text.substr(other.begin, other.end - other.begin), after)};
  for (size_t bit : {size_t{0}, value.size() * 4, value.size() * 8 - 2}) {
    std::string flipped = text;
    flipped[piece.begin + bit / 8] = static_cast<char>(flipped[piece.begin + bit / 8] ^ (1 << bit % 8));
    all.push_back(flipped);
  }
  for (const std::string& replacement : odd) all.push_back(StrCat(before, replacement, after));
  return all;
}

/// A changed message must be refused with a text. Returns 1 for a case that was run, 0 if nothing changed.
size_t ExpectRefused(const VanillaRequest& changed, std::string_view text, std::string_view original) {
  if (text == original) return 0;
  Status status = ParseAndCheck(changed).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_FALSE(status.message().empty());
  return 1;
}

/// The places of all values and containers of a JSON text, and of all members of objects.
class JsonPieces {
 public:
  explicit JsonPieces(const std::string& text) : text_(text) { Value(); }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  void Value() {
    size_t begin = at_;
    if (char c = text_[at_]; c == '{' || c == '[') {
      for (++at_; text_[at_] != '}' && text_[at_] != ']';) {
        size_t member = at_;
        if (c == '{') {
          at_ = text_.find(':', at_) + 1;
          Value();
          pieces_.push_back({member, at_});
        } else {
          Value();
        }
        if (text_[at_] == ',') ++at_;
      }
      ++at_;
    } else if (c == '"') {
      at_ = text_.find('"', at_ + 1) + 1;
    } else {
      at_ = text_.find_first_of(",]}", at_);
    }
    pieces_.push_back({begin, at_});
  }

  const std::string& text_;
  size_t at_ = 0;
  std::vector<Piece> pieces_;
};

std::string Wrapped(const std::string& inner) {
  return StrCat("{\"SectorNum\":84,\"Phase1Out\":\"", EncodeBase64(inner), "\",\"SectorSize\":2048}");
}

std::string InnerOf(const VanillaRequest& request) {
  size_t begin = request.vanilla_proof.find("Phase1Out\":\"") + 12;
  std::string_view text = request.vanilla_proof;
  Base64Source source(text.substr(begin, text.find('"', begin) - begin));
  std::string inner(text.size(), '\0');
  size_t size = 0;
  while (size_t count = *source.Read(inner.data() + size, inner.size() - size)) size += count;
  inner.resize(size);
  return inner;
}

TEST(Mutations, C1) {
  VanillaRequest request = Recorded("porep/2KiB-v1_1-1000-84").request;
  ASSERT_TRUE(ParseAndCheck(request).ok());
  std::string inner = InnerOf(request);
  JsonPieces found(inner);
  const std::vector<std::string> odd = {"null", "256", "-1", "3.0", "[]", "{}", "\"x\"", "99999999999999999999",
                                        "",     "0,0"};
  const std::vector<Piece>& pieces = found.pieces();
  size_t cases = 0;
  auto change = [&](size_t i, size_t other) {
    for (const std::string& changed : Changed(inner, pieces[i], pieces[other], odd)) {
      request.vanilla_proof = Wrapped(changed);
      cases += ExpectRefused(request, changed, inner);
    }
  };
  // A prime stride, which meets every kind of field many times over; then the members of the outermost object.
  for (size_t i = 0; i < pieces.size(); i += 149) change(i, (i + 33) % pieces.size());
  for (size_t i = pieces.size() - 8; i < pieces.size(); ++i) change(i, i - 33);
  EXPECT_GT(cases, 3000u);
}

TEST(Mutations, C1Wrapper) {
  VanillaRequest request = Recorded("porep/2KiB-v1_1-1000-84").request;
  auto original = ParseAndCheck(request);
  ASSERT_TRUE(original.ok());
  const std::string text = request.vanilla_proof;
  JsonPieces found(text);
  for (Piece piece : found.pieces()) {
    for (const std::string& changed : Changed(text, piece, {1, 15}, {"null", "-1", "1.5", "{}", "\"\"", ""})) {
      request.vanilla_proof = changed;
      auto parsed = ParseAndCheck(request);
      if (parsed.ok()) {
        EXPECT_TRUE(testing_support::SamePartitions(*parsed, *original));
      } else {
        EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << parsed.status();
      }
    }
  }
  for (std::string_view ending : {std::string_view("x"), std::string_view("{}"), std::string_view("\0", 1)}) {
    request.vanilla_proof = StrCat(text, ending);
    ExpectRefused(request, request.vanilla_proof, text);
  }
  for (size_t cut = 0; cut < text.size(); cut += 1999) {
    request.vanilla_proof = text.substr(0, cut);
    ExpectRefused(request, request.vanilla_proof, text);
  }
  // JSON may escape what it likes, and end in space.
  std::string escaped = text;
  escaped.replace(escaped.find("\"eyJ"), 4, "\"\\u0065yJ");
  for (const std::string& same : {escaped, StrCat(text, " \n")}) {
    request.vanilla_proof = same;
    EXPECT_TRUE(ParseAndCheck(request).ok());
  }
}

/// The fields of bincode messages, in order.
class BincodePieces {
 public:
  explicit BincodePieces(const Circuit& circuit)
      : replica_(circuit.size->replica_tree()), data_(circuit.size->data_tree()) {
    if (circuit.kind == Kind::kSnap) {
      UpdateCounts counts = UpdateCountsOf(*circuit.size);
      Field(32), Field(8);
      for (uint32_t i = 0; i < counts.apex_leaves; ++i) Field(32);
      Field(8);
      for (uint32_t i = 0; i < counts.challenges; ++i) Proof(replica_), Proof(data_), Proof(replica_);
      return;
    }
    Field(8), Field(32), Field(8), Field(8);
    for (uint32_t i = 0; i < PostCountsOf(circuit.kind, *circuit.size).vanilla_challenges; ++i) Proof(replica_);
    Field(32), Field(32);
  }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  void Field(size_t bytes) {
    size_t begin = pieces_.empty() ? 0 : pieces_.back().end;
    pieces_.push_back({begin, begin + bytes});
  }
  void Proof(const PathShape& shape) {
    Field(4);
    if (shape.sections().size() == 1) Field(32), Field(32);
    size_t level = 0;
    for (size_t end : shape.sections()) {
      Field(8);
      for (; level < end; ++level) {
        Field(8);
        for (uint32_t i = 1; i < shape.levels()[level].arity; ++i) Field(32);
        Field(8);
      }
    }
    if (shape.sections().size() != 1) Field(32), Field(32);
  }
  PathShape replica_, data_;
  std::vector<Piece> pieces_;
};

/// Changes item `item` of a recorded request, one field in `stride`.
void ChangeItems(std::string_view name, size_t item, size_t stride, size_t least_cases) {
  VanillaRequest request = Recorded(name).request;
  auto original = ParseAndCheck(request);
  ASSERT_TRUE(original.ok()) << original.status();
  const std::string bytes = request.vanilla_proofs.at(item);
  BincodePieces found(*original->proof->circuit);
  const std::vector<Piece>& pieces = found.pieces();
  ASSERT_EQ(pieces.back().end, bytes.size());
  size_t cases = 0;
  for (size_t i = 0; i < pieces.size(); i += stride) {
    size_t size = pieces[i].end - pieces[i].begin;
    std::vector<std::string> odd = {std::string(size, '\0'), std::string(size, '\xff'), std::string(size + 1, '\1'),
                                    ""};
    for (const std::string& changed : Changed(bytes, pieces[i], pieces[(i + 11) % pieces.size()], odd)) {
      request.vanilla_proofs[item] = changed;
      cases += ExpectRefused(request, changed, bytes);
    }
  }
  EXPECT_GE(cases, least_cases);
}

TEST(Mutations, WindowItem) {
  ChangeItems("window/2KiB-window_v1_2-1000-2of4-part1", 0, 1, 2000);
  ChangeItems("window/2KiB-window_v1_2-1000-2of4-part1", 1, 7, 300);
}
TEST(Mutations, WindowItemOfTheFirstVersion) { ChangeItems("window/2KiB-window-1000-1of3-part1", 0, 3, 700); }
TEST(Mutations, WinningItem) { ChangeItems("winning/2KiB-winning-1000-a", 0, 13, 1000); }
TEST(Mutations, SnapItem) { ChangeItems("snap/2KiB-snap-1000-85", 0, 5, 1000); }
TEST(Mutations, SnapItemOfSeveral) { ChangeItems("snap/8MiB-snap-1000-98", 2, 97, 150); }

}  // namespace
}  // namespace cuzk::filecoin
