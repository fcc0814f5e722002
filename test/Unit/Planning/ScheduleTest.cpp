//===- ScheduleTest.cpp - schedule fields ---------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems.h"

#include <gtest/gtest.h>

using namespace disco;
using namespace disco::planning;

static constexpr FieldInfo fields[] = {
    {"tile", "a tile", "points", 8, 64, 8},
    {"deep", "a switch", "", 0, 1, 1},
};
static constexpr FieldTable table = {fields, 2};

TEST(Schedule, FieldsStartAtTheirLeastValue) {
  Schedule s = makeSchedule(table, DISCO_WEIGHT_FIRST, DISCO_RUNTIME, DISCO_C8);
  EXPECT_EQ(fieldsToString(s, table), "tile=8,deep=0");
  EXPECT_EQ(s.in_layout, DISCO_C8);
  EXPECT_TRUE(verify(s, table).ok());
}

TEST(Schedule, TextRoundTrips) {
  Schedule s = makeSchedule(table, 0, 0);
  ASSERT_TRUE(parseFields(s, table, "deep=1,tile=24").ok());
  EXPECT_EQ(fieldsToString(s, table), "tile=24,deep=1");
  Schedule again = makeSchedule(table, 0, 0);
  EXPECT_FALSE(isEqual(again, s));
  ASSERT_TRUE(parseFields(again, table, fieldsToString(s, table)).ok());
  EXPECT_TRUE(isEqual(again, s));
}

TEST(Schedule, BadTextIsRefused) {
  Schedule s = makeSchedule(table, 0, 0);
  auto why = [&](const char *text) {
    return parseFields(s, table, text).message();
  };
  EXPECT_EQ(why("tile=72"), "expected tile to be in [8, 64], but got 72");
  EXPECT_EQ(why("tile=12"),
            "expected tile to be 8 plus a multiple of 8, but got 12");
  EXPECT_EQ(
      why("wide=1"),
      "expected the schedule field to be one of tile, deep, but got wide");
  EXPECT_EQ(why("tile"), "expected a schedule field to read name=integer, but "
                         "got 'tile'");
  EXPECT_EQ(why("tile=8x"), "expected a schedule field to read name=integer, "
                            "but got 'tile=8x'");
  EXPECT_EQ(why("tile=99999999999999999999"),
            "expected a schedule field to read name=integer, but got "
            "'tile=99999999999999999999'");
  EXPECT_EQ(fieldsToString(s, table), "tile=8,deep=0");
  EXPECT_EQ(why("tile=16,deep=1,tile=24"),
            "expected the schedule field tile to be given once, but got it "
            "twice");
  EXPECT_EQ(parseFields(s, {}, "tile=8").message(),
            "expected no schedule fields, since the family has none, but got "
            "tile");
}

TEST(Schedule, ForeignSchedulesAreRefused) {
  Schedule s = makeSchedule(table, 0, 0);
  s.num_fields = 1;
  EXPECT_EQ(verify(s, table).message(),
            "expected the schedule to have 2 fields (tile, deep), but got 1");
  s = makeSchedule(table, 0, 0);
  s.fields[1].id = 0;
  EXPECT_EQ(verify(s, table).message(),
            "expected field 1 of the schedule to be deep, but got field 0");
  s = makeSchedule(table, 2, 0);
  EXPECT_EQ(verify(s, table).message(),
            "expected the order to be in [0, 2), but got 2");
  s = makeSchedule(table, 0, -1);
  EXPECT_EQ(verify(s, table).message(),
            "expected the provider to be in [0, 2), but got -1");
}

TEST(Schedule, FieldTablesOfFamiliesFitTheStruct) {
  for (const Family &family : families()) {
    EXPECT_LE(family.fields().size, DISCO_MAX_SCHEDULE_FIELDS) << family.name;
    for (int32_t i = 0; i < family.fields().size; ++i) {
      const FieldInfo &field = family.fields().fields[i];
      EXPECT_LE(field.least, field.greatest) << family.name << field.name;
      EXPECT_GT(field.step, 0) << family.name << field.name;
      EXPECT_EQ(family.fields().find(field.name), i) << family.name;
    }
  }
}
