//===- Grammar.cpp - the text form of grids and filters -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/SphereFilter.h"

#include <charconv>

using namespace disco;
using namespace disco::filter;

namespace {

template <typename E> struct Name {
  std::string_view text;
  E value;
};

constexpr Name<GridKind> gridKinds[] = {
    {"equiangular", GridKind::equiangular},
    {"legendre_gauss", GridKind::legendre_gauss},
    {"lobatto", GridKind::lobatto},
    {"equiangular_trapezoidal", GridKind::equiangular_trapezoidal}};
constexpr Name<Basis> bases[] = {{"piecewise_linear", Basis::piecewise_linear},
                                 {"harmonic", Basis::harmonic},
                                 {"morlet", Basis::morlet},
                                 {"zernike", Basis::zernike},
                                 {"fourier_bessel", Basis::fourier_bessel}};
constexpr Name<Norm> norms[] = {
    {"nodal", Norm::nodal},         {"modal", Norm::modal},
    {"mean", Norm::mean},           {"support", Norm::support},
    {"geometric", Norm::geometric}, {"none", Norm::none}};

template <typename E, size_t n>
std::string_view lookUp(const Name<E> (&names)[n], E value) {
  for (const Name<E> &name : names)
    if (name.value == value)
      return name.text;
  return "?";
}

template <typename E, size_t n> std::string listOf(const Name<E> (&names)[n]) {
  std::string list;
  for (size_t i = 0; i < n; ++i) {
    list += i == 0 ? "" : i + 1 == n ? " or " : ", ";
    list += names[i].text;
  }
  return list;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// A recursive-descent parser. Every method returns false once an error is
/// recorded; only the first one is kept.
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  bool parseGrid(Grid &grid) {
    if (!parseHead("grid") || !parseEnum(gridKinds, "the grid", grid.kind) ||
        !expect(','))
      return false;
    if (!parseInteger("nlat", grid.nlat))
      return false;
    // No white space around the x, as in the shape of a tensor type.
    if (pos >= text.size() || text[pos] != 'x')
      return failHere("'x'");
    ++pos;
    if (pos < text.size() && isSpace(text[pos]))
      return failHere("nlon to be an integer");
    return parseInteger("nlon", grid.nlon) && expect('>');
  }

  bool parseFilter(SphereFilter &filter) {
    if (!parseHead("sphere_filter") ||
        !parseEnum(bases, "the basis", filter.basis) || !expect(',') ||
        !parseShape(filter.shape))
      return false;
    while (accept(','))
      if (!parseOption(filter))
        return false;
    if (!expect('>', "',' or '>'"))
      return false;
    if (!(seen & seenIn))
      return fail(text.size(), "expected a grid 'in = ...', but got none");
    if (!(seen & seenOut))
      return fail(text.size(), "expected a grid 'out = ...', but got none");
    return true;
  }

  bool parseEnd() {
    skipSpace();
    return pos == text.size() || failHere("the end of the text");
  }

  Error error() const { return Error{message}; }

private:
  enum : unsigned {
    seenCutoff = 1,
    seenNorm = 2,
    seenIn = 4,
    seenOut = 8,
    seenTranspose = 16
  };

  bool fail(size_t offset, const std::string &what) {
    if (message.empty())
      message = what + " at offset " + std::to_string(offset);
    return false;
  }

  /// "expected WHAT, but got TOKEN at offset N".
  bool failHere(const std::string &what) {
    skipSpace();
    return fail(pos, "expected " + what + ", but got " + describeToken());
  }

  std::string describeToken() const {
    if (pos >= text.size())
      return "the end of the text";
    size_t end = pos;
    auto inToken = [&](char c) {
      return isWordStart(c) || isDigit(c) || c == '.';
    };
    while (end < text.size() && end - pos < 32 && inToken(text[end]))
      ++end;
    if (end > pos)
      return "'" + std::string(text.substr(pos, end - pos)) + "'";
    unsigned char c = static_cast<unsigned char>(text[pos]);
    if (c >= 0x20 && c < 0x7f)
      return std::string("'") + text[pos] + "'";
    constexpr char digits[] = "0123456789abcdef";
    return std::string("byte 0x") + digits[c >> 4] + digits[c & 15];
  }

  void skipSpace() {
    while (pos < text.size() && isSpace(text[pos]))
      ++pos;
  }

  bool accept(char c) {
    skipSpace();
    if (pos >= text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }

  bool expect(char c, const char *what = nullptr) {
    if (accept(c))
      return true;
    return failHere(what ? what : std::string("'") + c + "'");
  }

  std::string_view peekWord() {
    skipSpace();
    size_t end = pos;
    if (end < text.size() && isWordStart(text[end]))
      while (end < text.size() &&
             (isWordStart(text[end]) || isDigit(text[end])))
        ++end;
    return text.substr(pos, end - pos);
  }

  /// ("#disco.")? name "<"
  bool parseHead(std::string_view name) {
    skipSpace();
    constexpr std::string_view prefix = "#disco.";
    if (text.substr(pos, prefix.size()) == prefix)
      pos += prefix.size();
    if (peekWord() != name)
      return failHere("'" + std::string(name) + "'");
    pos += name.size();
    return expect('<');
  }

  template <typename E, size_t n>
  bool parseEnum(const Name<E> (&names)[n], const char *what, E &value) {
    std::string_view word = peekWord();
    for (const Name<E> &name : names)
      if (name.text == word) {
        value = name.value;
        pos += word.size();
        return true;
      }
    return failHere(std::string(what) + " to be " + listOf(names));
  }

  bool parseInteger(const char *what, int64_t &value) {
    skipSpace();
    const char *begin = text.data() + pos, *end = text.data() + text.size();
    auto [next, code] = std::from_chars(begin, end, value);
    if (code == std::errc::invalid_argument)
      return failHere(std::string(what) + " to be an integer");
    if (code != std::errc())
      return fail(pos, std::string("expected ") + what +
                           " to fit in 64 bits, but got '" +
                           std::string(begin, next) + "'");
    pos += next - begin;
    return true;
  }

  bool parseNumber(const char *what, double &value) {
    skipSpace();
    // from_chars would also take "inf" and "nan".
    size_t end = pos;
    while (end < text.size() &&
           (isDigit(text[end]) || text[end] == '.' || text[end] == '-' ||
            text[end] == '+' || text[end] == 'e' || text[end] == 'E'))
      ++end;
    const char *begin = text.data() + pos, *last = text.data() + end;
    auto [next, code] = std::from_chars(begin, last, value);
    if (code == std::errc::result_out_of_range)
      return fail(pos, std::string("expected ") + what +
                           " to be in the range of float64, but got '" +
                           std::string(begin, next) + "'");
    if (code != std::errc() || next != last)
      return failHere(std::string(what) + " to be a number");
    pos = end;
    return true;
  }

  bool parseShape(std::vector<int64_t> &shape) {
    if (!expect('['))
      return false;
    do {
      if (shape.size() == 8)
        return failHere("at most 8 numbers in the shape");
      int64_t value = 0;
      if (!parseInteger("the shape's entry", value))
        return false;
      shape.push_back(value);
    } while (accept(','));
    return expect(']', "',' or ']'");
  }

  bool parseOption(SphereFilter &filter) {
    std::string_view word = peekWord();
    unsigned flag = word == "cutoff"      ? seenCutoff
                    : word == "norm"      ? seenNorm
                    : word == "in"        ? seenIn
                    : word == "out"       ? seenOut
                    : word == "transpose" ? seenTranspose
                                          : 0u;
    if (!flag)
      return failHere("cutoff, norm, in, out or transpose");
    if (seen & flag)
      return failHere("each option at most once");
    seen |= flag;
    pos += word.size();
    if (flag == seenTranspose) {
      filter.transpose = true;
      return true;
    }
    if (!expect('='))
      return false;
    if (flag == seenNorm)
      return parseEnum(norms, "the norm", filter.norm);
    if (flag == seenIn)
      return parseGrid(filter.in);
    if (flag == seenOut)
      return parseGrid(filter.out);
    return parseNumber("cutoff", filter.cutoff.emplace());
  }

  std::string_view text;
  size_t pos = 0;
  unsigned seen = 0;
  std::string message;
};

} // namespace

std::string_view disco::filter::nameOf(GridKind kind) {
  return lookUp(gridKinds, kind);
}
std::string_view disco::filter::nameOf(Basis basis) {
  return lookUp(bases, basis);
}
std::string_view disco::filter::nameOf(Norm norm) {
  return lookUp(norms, norm);
}

Result<Grid> disco::filter::parseGrid(std::string_view text) {
  Parser parser(text);
  Grid grid;
  if (!parser.parseGrid(grid) || !parser.parseEnd())
    return parser.error();
  if (Status status = verify(grid); !status)
    return status.error();
  return grid;
}

Result<SphereFilter> disco::filter::parseSphereFilter(std::string_view text) {
  Parser parser(text);
  SphereFilter filter;
  if (!parser.parseFilter(filter) || !parser.parseEnd())
    return parser.error();
  if (Status status = verify(filter); !status)
    return status.error();
  return filter;
}

std::string disco::filter::toString(const Grid &grid) {
  return "#disco.grid<" + std::string(nameOf(grid.kind)) + ", " +
         std::to_string(grid.nlat) + "x" + std::to_string(grid.nlon) + ">";
}

std::string disco::filter::toString(const SphereFilter &filter) {
  std::string text =
      "#disco.sphere_filter<" + std::string(nameOf(filter.basis)) + ", [";
  for (size_t i = 0; i < filter.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(filter.shape[i]);
  text += "]";
  if (filter.cutoff) {
    char buffer[32];
    auto [end, code] =
        std::to_chars(buffer, buffer + sizeof(buffer), *filter.cutoff);
    text += ", cutoff = " + std::string(buffer, end);
  }
  text += ", norm = " + std::string(nameOf(filter.norm));
  text += ", in = " + toString(filter.in) + ", out = " + toString(filter.out);
  return text + (filter.transpose ? ", transpose>" : ">");
}
