//===- Schedule.cpp - fields of a family's schedules ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Schedule.h"

#include "disco/Planning/Problem.h"

#include <cassert>
#include <charconv>

using namespace disco;
using namespace disco::planning;

int32_t FieldTable::find(std::string_view name) const {
  for (int32_t i = 0; i < size; ++i)
    if (name == fields[i].name)
      return i;
  return -1;
}

std::string FieldTable::names() const {
  std::string text;
  for (int32_t i = 0; i < size; ++i)
    text += (i ? ", " : "") + std::string(fields[i].name);
  return size ? text : "none";
}

Schedule planning::makeSchedule(const FieldTable &table, int32_t order,
                                int32_t provider, int32_t layout) {
  assert(table.size <= DISCO_MAX_SCHEDULE_FIELDS);
  Schedule schedule{};
  schedule.order = order;
  schedule.provider = provider;
  schedule.in_layout = schedule.out_layout = layout;
  schedule.num_fields = table.size;
  for (int32_t i = 0; i < table.size; ++i)
    schedule.fields[i] = {i, table.fields[i].least};
  return schedule;
}

int64_t planning::get(const Schedule &schedule, int32_t id) {
  assert(id >= 0 && id < schedule.num_fields);
  return schedule.fields[id].value;
}

/// Checks a value against the field's own range.
static Status checkValue(const FieldInfo &field, int64_t value) {
  std::string name = field.name;
  if (value < field.least || value > field.greatest)
    return Error{"expected " + name + " to be in [" +
                 std::to_string(field.least) + ", " +
                 std::to_string(field.greatest) + "], but got " +
                 std::to_string(value)};
  if ((value - field.least) % field.step != 0)
    return Error{"expected " + name + " to be " + std::to_string(field.least) +
                 " plus a multiple of " + std::to_string(field.step) +
                 ", but got " + std::to_string(value)};
  return {};
}

Status planning::set(Schedule &schedule, const FieldTable &table, int32_t id,
                     int64_t value) {
  if (id < 0 || id >= table.size)
    return Error{"expected the field to be in [0, " +
                 std::to_string(table.size) + "), but got " +
                 std::to_string(id)};
  if (Status status = checkValue(table.fields[id], value); !status)
    return status;
  schedule.fields[id] = {id, value};
  return {};
}

Status planning::set(Schedule &schedule, const FieldTable &table,
                     std::string_view name, int64_t value) {
  int32_t id = table.find(name);
  if (id < 0 && table.size == 0)
    return Error{"expected no schedule fields, since the family has none, but "
                 "got " +
                 std::string(name)};
  if (id < 0)
    return Error{"expected the schedule field to be one of " + table.names() +
                 ", but got " + std::string(name)};
  return set(schedule, table, id, value);
}

Status planning::parseFields(Schedule &schedule, const FieldTable &table,
                             std::string_view text) {
  static_assert(DISCO_MAX_SCHEDULE_FIELDS <= 64, "a bit a field");
  uint64_t given = 0;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size() < text.size() ? item.size() + 1
                                                 : item.size());
    size_t equals = item.find('=');
    std::string_view digits =
        equals == item.npos ? "" : item.substr(equals + 1);
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() ||
        end != digits.data() + digits.size())
      return Error{"expected a schedule field to read name=integer, but got '" +
                   std::string(item) + "'"};
    const std::string_view name = item.substr(0, equals);
    if (Status s = set(schedule, table, name, value); !s)
      return s;
    const uint64_t bit = uint64_t(1) << table.find(name);
    if (given & bit)
      return Error{"expected the schedule field " + std::string(name) +
                   " to be given once, but got it twice"};
    given |= bit;
  }
  return {};
}

static Status checkEnum(const char *what, int32_t value, int32_t count) {
  if (value >= 0 && value < count)
    return {};
  return Error{std::string("expected the ") + what + " to be in [0, " +
               std::to_string(count) + "), but got " + std::to_string(value)};
}

Status planning::verify(const Schedule &schedule, const FieldTable &table) {
  if (Status s = checkEnum("order", schedule.order, DISCO_NUM_ORDERS); !s)
    return s;
  if (Status s = checkEnum("provider", schedule.provider, DISCO_NUM_PROVIDERS);
      !s)
    return s;
  if (Status s =
          checkEnum("input layout", schedule.in_layout, DISCO_NUM_LAYOUTS);
      !s)
    return s;
  if (Status s =
          checkEnum("output layout", schedule.out_layout, DISCO_NUM_LAYOUTS);
      !s)
    return s;
  if (schedule.num_fields != table.size)
    return Error{"expected the schedule to have " + std::to_string(table.size) +
                 " fields (" + table.names() + "), but got " +
                 std::to_string(schedule.num_fields)};
  for (int32_t i = 0; i < table.size; ++i) {
    if (schedule.fields[i].id != i)
      return Error{"expected field " + std::to_string(i) +
                   " of the schedule to be " + table.fields[i].name +
                   ", but got field " + std::to_string(schedule.fields[i].id)};
    if (Status s = checkValue(table.fields[i], schedule.fields[i].value); !s)
      return s;
  }
  return {};
}

std::string planning::fieldsToString(const Schedule &schedule,
                                     const FieldTable &table) {
  std::string text;
  for (int32_t i = 0; i < schedule.num_fields && i < table.size; ++i)
    text += (i ? "," : "") + std::string(table.fields[i].name) + "=" +
            std::to_string(schedule.fields[i].value);
  return text;
}

bool planning::isEqual(const Schedule &a, const Schedule &b) {
  if (a.order != b.order || a.provider != b.provider ||
      a.in_layout != b.in_layout || a.out_layout != b.out_layout ||
      a.num_fields != b.num_fields)
    return false;
  for (int32_t i = 0; i < a.num_fields; ++i)
    if (a.fields[i].id != b.fields[i].id ||
        a.fields[i].value != b.fields[i].value)
      return false;
  return true;
}
