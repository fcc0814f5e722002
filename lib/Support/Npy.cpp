//===- Npy.cpp - .npy files -----------------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// File layout:
//
//   "\x93NUMPY" | major | minor | header length | header text ... '\n' | data
//        6          1       1     2 (v1), 4 (v2, v3)
//
// The header text is a Python dictionary with exactly the keys 'descr',
// 'fortran_order' and 'shape'. Only the part of Python that numpy writes is
// accepted.
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace disco {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr uint64_t maxHeaderBytes = 1 << 20;
constexpr size_t maxRank = 32;

struct Header {
  DType dtype = DType::f64;
  std::vector<int64_t> shape;
  size_t dataOffset = 0;
};

/// Bytes of a dense array, or nothing when they do not fit an int64.
std::optional<int64_t> byteSize(DType dtype,
                                const std::vector<int64_t> &shape) {
  // A zero dimension makes the array empty whatever the others are.
  for (int64_t dim : shape)
    if (dim == 0)
      return 0;
  auto total = static_cast<int64_t>(sizeOf(dtype));
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(total, dim, &total))
      return std::nullopt;
  return total;
}

/// Reads the header's dictionary.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Status parse(Header &header) {
    if (!eat('{'))
      return malformed("'{'");
    bool seen[3] = {false, false, false};
    while (!eat('}')) {
      std::string_view key;
      if (!string(key))
        return malformed("a quoted key");
      int which = key == "descr"           ? 0
                  : key == "fortran_order" ? 1
                  : key == "shape"         ? 2
                                           : -1;
      if (which < 0)
        return Error{"unknown key '" + printable(key) + "' in npy header"};
      if (seen[which])
        return Error{"key '" + std::string(key) +
                     "' is repeated in npy header"};
      seen[which] = true;
      if (!eat(':'))
        return malformed("':'");
      Status status = which == 0   ? descr(header)
                      : which == 1 ? order()
                                   : shape(header);
      if (!status)
        return status;
      if (!eat(',') && !peek('}'))
        return malformed("',' or '}'");
    }
    const char *names[3] = {"descr", "fortran_order", "shape"};
    for (int i = 0; i < 3; ++i)
      if (!seen[i])
        return Error{std::string("key '") + names[i] +
                     "' is missing in npy header"};
    skipSpace();
    if (position != text.size())
      return malformed("the end of the header");
    return {};
  }

private:
  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\n' ||
            text[position] == '\t' || text[position] == '\r'))
      ++position;
  }
  bool peek(char c) {
    skipSpace();
    return position < text.size() && text[position] == c;
  }
  bool eat(char c) {
    if (!peek(c))
      return false;
    ++position;
    return true;
  }
  bool word(std::string_view expected) {
    skipSpace();
    if (text.substr(position, expected.size()) != expected)
      return false;
    position += expected.size();
    return true;
  }
  bool string(std::string_view &result) {
    skipSpace();
    if (position >= text.size() ||
        (text[position] != '\'' && text[position] != '"'))
      return false;
    const size_t end = text.find(text[position], position + 1);
    if (end == std::string_view::npos)
      return false;
    result = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return true;
  }
  /// Non-printable bytes as '?', and no more than a line's worth of them.
  static std::string printable(std::string_view raw) {
    std::string result(raw.substr(0, 40));
    for (char &c : result)
      if (c < 0x20 || c > 0x7e)
        c = '?';
    return result;
  }
  Error malformed(const char *expected) {
    skipSpace();
    std::string got = position < text.size()
                          ? "'" + printable(text.substr(position, 1)) + "'"
                          : "its end";
    return Error{std::string("expected ") + expected + " at byte " +
                 std::to_string(position) + " of the npy header, but got " +
                 got};
  }

  Status descr(Header &header) {
    std::string_view value;
    if (!string(value))
      return malformed("a quoted element type");
    static constexpr std::pair<std::string_view, DType> known[] = {
        {"<f8", DType::f64},  {"<f4", DType::f32},  {"<f2", DType::f16},
        {"|V2", DType::bf16}, {"<V2", DType::bf16}, {"<u2", DType::bf16},
        {"<i4", DType::i32},  {"<i8", DType::i64}};
    for (auto [name, dtype] : known)
      if (name == value) {
        header.dtype = dtype;
        return {};
      }
    return Error{"expected npy element type to be one of <f8, <f4, <f2, |V2, "
                 "<u2, <i4, <i8, but got '" +
                 printable(value) + "'"};
  }

  Status order() {
    if (word("False"))
      return {};
    if (word("True"))
      return Error{"expected npy fortran_order to be False, but got True"};
    return malformed("True or False");
  }

  Status shape(Header &header) {
    if (!eat('('))
      return malformed("'('");
    bool comma = true;
    while (!eat(')')) {
      if (!comma)
        return malformed("',' or ')'");
      int64_t dim;
      if (Status status = dimension(dim, header.shape.size()); !status)
        return status;
      if (header.shape.size() == maxRank)
        return Error{"expected npy rank to be at most " +
                     std::to_string(maxRank) + ", but got more"};
      header.shape.push_back(dim);
      comma = eat(',');
    }
    if (header.shape.size() == 1 && !comma)
      return Error{"expected npy shape to be a tuple, but got a number"};
    return {};
  }

  Status dimension(int64_t &dim, size_t index) {
    skipSpace();
    const size_t start = position;
    const bool negative = eat('-');
    dim = 0;
    const size_t digits = position;
    bool overflow = false;
    for (; position < text.size() && text[position] >= '0' &&
           text[position] <= '9';
         ++position)
      overflow |= __builtin_mul_overflow(dim, int64_t(10), &dim) ||
                  __builtin_add_overflow(
                      dim, static_cast<int64_t>(text[position] - '0'), &dim);
    if (position == digits)
      return malformed("a dimension");
    const std::string spelled = printable(text.substr(start, position - start));
    if (negative)
      return Error{"expected npy dimension " + std::to_string(index) +
                   " to be non-negative, but got " + spelled};
    if (overflow)
      return Error{"expected npy dimension " + std::to_string(index) +
                   " to be at most 9223372036854775807, but got " + spelled};
    return {};
  }

  std::string_view text;
  size_t position = 0;
};

/// Parses everything before the data. `prefix` is the start of a file of
/// `fileSize` bytes, at least as long as the longest header.
Result<Header> parseHeader(std::string_view prefix, uint64_t fileSize) {
  if (prefix.substr(0, magic.size()) != magic)
    return Error{"expected an npy file to start with \\x93NUMPY, but it does "
                 "not"};
  if (prefix.size() < 10)
    return Error{"expected at least 10 bytes in an npy file, but got " +
                 std::to_string(fileSize)};
  const auto byteAt = [&](size_t i) {
    return static_cast<uint64_t>(static_cast<unsigned char>(prefix[i]));
  };
  const uint64_t major = byteAt(6), minor = byteAt(7);
  if (major < 1 || major > 3 || minor != 0)
    return Error{"expected npy version to be 1.0, 2.0 or 3.0, but got " +
                 std::to_string(major) + "." + std::to_string(minor)};
  const size_t start = major == 1 ? 10 : 12;
  if (prefix.size() < start)
    return Error{"expected at least 12 bytes in an npy file of version " +
                 std::to_string(major) + ", but got " +
                 std::to_string(fileSize)};
  uint64_t length = byteAt(8) | byteAt(9) << 8;
  if (major > 1)
    length |= byteAt(10) << 16 | byteAt(11) << 24;
  if (length > maxHeaderBytes)
    return Error{"expected npy header to be at most " +
                 std::to_string(maxHeaderBytes) + " bytes, but got " +
                 std::to_string(length)};
  if (length > prefix.size() - start)
    return Error{"expected " + std::to_string(length) +
                 " bytes of npy header, but got " +
                 std::to_string(prefix.size() - start)};
  Header header;
  header.dataOffset = start + length;
  HeaderParser parser(prefix.substr(start, length));
  if (Status status = parser.parse(header); !status)
    return status.error();
  const std::optional<int64_t> expected = byteSize(header.dtype, header.shape);
  if (!expected)
    return Error{
        "expected the npy array's size to fit 63 bits, but got shape " +
        describe(header.dtype, header.shape)};
  const uint64_t present = fileSize - header.dataOffset;
  if (static_cast<uint64_t>(*expected) != present)
    return Error{"expected " + std::to_string(*expected) +
                 " bytes of npy data for " +
                 describe(header.dtype, header.shape) + ", but got " +
                 std::to_string(present)};
  return header;
}

Error cannotRead(const std::string &path) {
  return Error{"cannot read '" + path + "': " + std::strerror(errno)};
}

/// A file descriptor that closes itself.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
};

/// Reads exactly `size` bytes at `offset`; false (with errno) when it cannot.
bool readAt(int file, void *data, uint64_t size, uint64_t offset) {
  auto *next = static_cast<char *>(data);
  while (size > 0) {
    const ssize_t count = ::pread(file, next, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      if (count == 0) // shrank while being read
        errno = EIO;
      return false;
    }
    next += count;
    size -= static_cast<uint64_t>(count);
    offset += static_cast<uint64_t>(count);
  }
  return true;
}

std::string formatHeader(const Array &array) {
  static constexpr std::string_view descr[] = {"<f8", "<f4", "<f2",
                                               "|V2", "<i4", "<i8"};
  std::string text = "{'descr': '";
  text += descr[static_cast<int32_t>(array.dtype)];
  text += "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.shape.size(); ++i) {
    if (i > 0)
      text += ' ';
    text += std::to_string(array.shape[i]) + ",";
  }
  if (array.shape.size() > 1)
    text.pop_back();
  text += "), }";
  // The data starts at a multiple of 64, as numpy aligns it.
  const size_t total = (10 + text.size() + 1 + 63) / 64 * 64;
  text.resize(total - 10 - 1, ' ');
  text += '\n';
  std::string result(magic);
  result += '\x01';
  result += '\x00';
  result += static_cast<char>(text.size() & 0xff);
  result += static_cast<char>(text.size() >> 8);
  return result + text;
}

} // namespace

int64_t Array::numElements() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (dim == 0)
      return 0;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

Result<Array> Array::create(DType dtype, std::vector<int64_t> shape) {
  for (int64_t dim : shape)
    if (dim < 0)
      return Error{"expected dimensions to be non-negative, but got " +
                   describe(dtype, shape)};
  const std::optional<int64_t> bytes = byteSize(dtype, shape);
  if (!bytes)
    return Error{"expected the array's size to fit 63 bits, but got shape " +
                 describe(dtype, shape)};
  Array array;
  array.dtype = dtype;
  try {
    array.bytes.resize(static_cast<size_t>(*bytes));
  } catch (const std::exception &) { // bad_alloc or length_error
    return Error{"out of memory: cannot allocate " + std::to_string(*bytes) +
                 " bytes for " + describe(dtype, shape)};
  }
  array.shape = std::move(shape);
  return array;
}

std::string describe(DType dtype, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t dim : shape)
    text += std::to_string(dim) + "x";
  text += nameOf(dtype);
  return text;
}

Result<Array> parseNpy(std::string_view bytes) {
  Result<Header> header = parseHeader(bytes, bytes.size());
  if (!header)
    return header.error();
  Result<Array> array = Array::create(header->dtype, std::move(header->shape));
  if (array && !array->bytes.empty())
    std::memcpy(array->bytes.data(), bytes.data() + header->dataOffset,
                array->bytes.size());
  return array;
}

Result<Array> readNpy(const std::string &path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat info;
  if (file.value < 0 || ::fstat(file.value, &info) != 0)
    return cannotRead(path);
  if (!S_ISREG(info.st_mode))
    return Error{"cannot read '" + path + "': it is not a regular file"};
  const auto size = static_cast<uint64_t>(info.st_size);
  std::string prefix(std::min(size, maxHeaderBytes + 12), '\0');
  if (!readAt(file.value, prefix.data(), prefix.size(), 0))
    return cannotRead(path);
  Result<Header> header = parseHeader(prefix, size);
  if (!header)
    return Error{path + ": " + header.message()};
  // The size was checked against the file's, so a lying header cannot make
  // this allocate more than the file holds.
  Result<Array> array = Array::create(header->dtype, std::move(header->shape));
  if (!array)
    return Error{path + ": " + array.message()};
  if (!readAt(file.value, array->bytes.data(), array->bytes.size(),
              header->dataOffset))
    return cannotRead(path);
  return array;
}

Result<AtomicFile> stageNpy(const std::string &path, const Array &array) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file;
  if (Status status = file->write(formatHeader(array)); !status)
    return status.error();
  if (Status status = file->write(array.bytes.data(), array.bytes.size());
      !status)
    return status.error();
  return file;
}

Status writeNpy(const std::string &path, const Array &array) {
  Result<AtomicFile> file = stageNpy(path, array);
  return file ? file->commit() : Status(file.error());
}

} // namespace disco
