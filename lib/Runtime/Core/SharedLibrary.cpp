//===- SharedLibrary.cpp - is a file safe to load -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace disco::runtime {

namespace {

#if defined(__x86_64__)
constexpr unsigned hostMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned hostMachine = EM_AARCH64;
#else
#error "add the ELF machine of this processor"
#endif

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  bool read(void *data, size_t size, uint64_t offset) const {
    return ::pread(descriptor, data, size, static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(size);
  }
};

disco_status checkSegments(const char *path, const File &file,
                           const Elf64_Ehdr &header, uint64_t size) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const uint64_t offset = header.e_phoff + uint64_t(i) * sizeof(Elf64_Phdr);
    if (offset < header.e_phoff || !file.read(&segment, sizeof segment, offset))
      return fail(DISCO_IO_ERROR,
                  "expected '%s' to hold %u program headers, but it is "
                  "truncated at %llu bytes",
                  path, unsigned(header.e_phnum),
                  static_cast<unsigned long long>(size));
    uint64_t end;
    if (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) ||
        (segment.p_type == PT_LOAD && end > size))
      return fail(DISCO_IO_ERROR,
                  "expected '%s' to be at least %llu bytes long, but got %llu",
                  path, static_cast<unsigned long long>(end),
                  static_cast<unsigned long long>(size));
  }
  return DISCO_OK;
}

} // namespace

disco_status checkSharedLibrary(const char *path) {
  const File file{::open(path, O_RDONLY | O_CLOEXEC)};
  struct stat info;
  if (file.descriptor < 0 || ::fstat(file.descriptor, &info) != 0)
    return fail(errno == ENOENT ? DISCO_NOT_FOUND : DISCO_IO_ERROR,
                "cannot open '%s': %s", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return fail(DISCO_IO_ERROR, "cannot open '%s': it is not a regular file",
                path);
  const auto size = static_cast<uint64_t>(info.st_size);
  Elf64_Ehdr header;
  if (!file.read(&header, sizeof header, 0) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(DISCO_ABI_MISMATCH,
                "expected '%s' to be a shared library (64-bit little-endian "
                "ELF), but it is not",
                path);
  if (header.e_type != ET_DYN)
    return fail(DISCO_ABI_MISMATCH,
                "expected '%s' to have ELF type %d (shared library), but got "
                "%d",
                path, ET_DYN, header.e_type);
  if (header.e_machine != hostMachine)
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected '%s' to be built for ELF machine %u, but got %u",
                path, hostMachine, unsigned(header.e_machine));
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    return fail(DISCO_ABI_MISMATCH,
                "expected program headers of '%s' to be %zu bytes long, but "
                "got %u",
                path, sizeof(Elf64_Phdr), unsigned(header.e_phentsize));
  if (disco_status s = checkSegments(path, file, header, size))
    return s;
  // The table of sections, where there is one, is what a linker writes last.
  const uint64_t sections =
      header.e_shoff == 0 ? 0 : uint64_t(header.e_shnum) * header.e_shentsize;
  if (header.e_shoff > size || sections > size - header.e_shoff)
    return fail(DISCO_IO_ERROR,
                "expected '%s' to hold %u section headers, but it is truncated "
                "at %llu bytes",
                path, unsigned(header.e_shnum),
                static_cast<unsigned long long>(size));
  return DISCO_OK;
}

LoadedSegments::LoadedSegments(const void *address) {
  struct Search {
    uintptr_t address;
    std::vector<Segment> found;
  } search = {reinterpret_cast<uintptr_t>(address), {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) -> int {
        auto &search = *static_cast<Search *>(data);
        search.found.clear();
        bool isHere = false;
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) &segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_R))
            continue;
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          search.found.push_back({begin, begin + segment.p_memsz});
          isHere |= search.address >= begin &&
                    search.address < search.found.back().end;
        }
        return isHere;
      },
      &search);
  segments = std::move(search.found);
}

bool LoadedSegments::hold(const void *data, uint64_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return std::any_of(segments.begin(), segments.end(),
                     [&](const Segment &segment) {
                       return begin >= segment.begin && begin <= segment.end &&
                              bytes <= segment.end - begin;
                     });
}

} // namespace disco::runtime
