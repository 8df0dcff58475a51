// The functions that the distributions' static libraries take from a glibc later than 2.34, for programs that must run
// on 2.34: linked into the programs, they are found before glibc's own. The package's test names a symbol that is
// missing here.
//
// _dl_find_object (glibc 2.35) finds the unwinder's table for a code address, arc4random (2.36) serves
// std::random_device, and the functions that begin with __isoc23_ (2.38) read numbers as C23 wants it, with the prefix
// 0b.

#include <link.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

// glibc's struct dl_find_object on x86-64.
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  link_map* map;
  void* unwind_table;
  unsigned long long reserved[7];
};

struct Search {
  uintptr_t address;
  FoundObject* found;
};

// For dl_iterate_phdr: 1 when `info` is the object that holds the address and has a table.
int FillIn(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const ElfW(Phdr)* table = nullptr;
  uintptr_t low = UINTPTR_MAX, high = 0;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    if (segment.p_type == PT_GNU_EH_FRAME) table = &segment;
    if (segment.p_type != PT_LOAD) continue;
    inside = inside || (search->address >= begin && search->address < end);
    low = begin < low ? begin : low;
    high = end > high ? end : high;
  }
  if (!inside) return 0;
  if (table == nullptr) return -1;
  *search->found = {.flags = 0,
                    .map_start = reinterpret_cast<void*>(low),
                    .map_end = reinterpret_cast<void*>(high),
                    .map = nullptr,
                    .unwind_table = reinterpret_cast<void*>(info->dlpi_addr + table->p_vaddr),
                    .reserved = {}};
  return 1;
}

}  // namespace

// The functions of C17, whatever the compiler's header makes of their names.
long StrtolOfC17(const char* text, char** end, int base) __asm__("strtol");
long long StrtollOfC17(const char* text, char** end, int base) __asm__("strtoll");
unsigned long StrtoulOfC17(const char* text, char** end, int base) __asm__("strtoul");
unsigned long long StrtoullOfC17(const char* text, char** end, int base) __asm__("strtoull");
int VsscanfOfC17(const char* text, const char* format, va_list arguments) __asm__("vsscanf");

// Each definition has the name that the linker looks for, and is no name for libraries that are loaded later.
#define CUZK_LINKED_AS(name) __asm__(name) __attribute__((visibility("hidden"), used))
int FindObject(void* address, void* found) CUZK_LINKED_AS("_dl_find_object");
void RandomBytes(void* buffer, size_t size) CUZK_LINKED_AS("arc4random_buf");
uint32_t RandomNumber() CUZK_LINKED_AS("arc4random");
long Strtol(const char* text, char** end, int base) CUZK_LINKED_AS("__isoc23_strtol");
long long Strtoll(const char* text, char** end, int base) CUZK_LINKED_AS("__isoc23_strtoll");
unsigned long Strtoul(const char* text, char** end, int base) CUZK_LINKED_AS("__isoc23_strtoul");
unsigned long long Strtoull(const char* text, char** end, int base) CUZK_LINKED_AS("__isoc23_strtoull");
int Sscanf(const char* text, const char* format, ...) CUZK_LINKED_AS("__isoc23_sscanf");

/// 0 with the object that holds `address`, -1 if there is none with an unwinder's table.
int FindObject(void* address, void* found) {
  Search search{reinterpret_cast<uintptr_t>(address), static_cast<FoundObject*>(found)};
  return dl_iterate_phdr(&FillIn, &search) == 1 ? 0 : -1;
}

/// Ends the program where the kernel gives no random bytes, as glibc does.
void RandomBytes(void* buffer, size_t size) {
  auto* at = static_cast<unsigned char*>(buffer);
  while (size != 0) {
    const ssize_t got = getrandom(at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) abort();
    at += got;
    size -= static_cast<size_t>(got);
  }
}

uint32_t RandomNumber() {
  uint32_t value = 0;
  RandomBytes(&value, sizeof value);
  return value;
}

long Strtol(const char* text, char** end, int base) { return StrtolOfC17(text, end, base); }
long long Strtoll(const char* text, char** end, int base) { return StrtollOfC17(text, end, base); }
unsigned long Strtoul(const char* text, char** end, int base) { return StrtoulOfC17(text, end, base); }
unsigned long long Strtoull(const char* text, char** end, int base) { return StrtoullOfC17(text, end, base); }

int Sscanf(const char* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = VsscanfOfC17(text, format, arguments);
  va_end(arguments);
  return result;
}
