//===- Schedule.h - fields of a family's schedules --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is a list of integers that the family's field table explains, so
// that the attribute's parser, command lines and JSON know no family.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_PLANNING_SCHEDULE_H
#define DISCO_PLANNING_SCHEDULE_H

#include "disco/ABI/Schedule.h"
#include "disco/Support/Result.h"

#include <string>
#include <string_view>

namespace disco::planning {

using Schedule = disco_schedule;

/// One field of a family: what it means and what is legal, whatever the
/// problem. Rules of the family may narrow it.
struct FieldInfo {
  const char *name;    ///< "fields": the word of plans and command lines
  const char *meaning; ///< for people
  const char *unit;    ///< "channels", "B", ""
  int64_t least, greatest, step;
};

/// The field table of a family.
struct FieldTable {
  const FieldInfo *fields = nullptr;
  int32_t size = 0;

  /// Index of the field with that name, or -1.
  int32_t find(std::string_view name) const;
  /// "fields, features".
  std::string names() const;
};

/// A schedule with all fields of the table at their least legal values.
Schedule makeSchedule(const FieldTable &table, int32_t order, int32_t provider,
                      int32_t layout = DISCO_NCHW);

/// The value of field `id`; the schedule must have it.
int64_t get(const Schedule &schedule, int32_t id);

/// Sets a field by id. Errors: no such field, or a value out of range
/// ("expected fields to be in [1, 8], but got 9").
Status set(Schedule &schedule, const FieldTable &table, int32_t id,
           int64_t value);
/// The same by name.
Status set(Schedule &schedule, const FieldTable &table, std::string_view name,
           int64_t value);

/// Sets fields from "fields=4,features=9"; "" sets none. Each at most once.
Status parseFields(Schedule &schedule, const FieldTable &table,
                   std::string_view text);

/// That the enumerations are in range and the fields are those of the table,
/// in order, each legal.
Status verify(const Schedule &schedule, const FieldTable &table);

/// "fields=4,features=9".
std::string fieldsToString(const Schedule &schedule, const FieldTable &table);

/// All members that carry meaning; fields beyond num_fields do not.
bool isEqual(const Schedule &a, const Schedule &b);

} // namespace disco::planning

#endif // DISCO_PLANNING_SCHEDULE_H
