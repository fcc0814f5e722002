/*===- AbiLayout.c - Problem.h and Schedule.h as C ------------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The headers must compile as C11, and the structs keep their layout: plain
 * data without padding, equal for compiler and runtime.
 *
 *===------------------------------------------------------------------------===*/

#include "disco/ABI/Schedule.h"

#define HOLDS(condition) _Static_assert(condition, #condition)

HOLDS(sizeof(disco_filter_statistics) == 19 * 8 + 2 * 8 * DISCO_TAP_BINS);
HOLDS(offsetof(disco_filter_statistics, histogram_rows) == 152);
HOLDS(offsetof(disco_problem, num_basis) == 48);
HOLDS(offsetof(disco_problem, filter) == 120);
HOLDS(sizeof(disco_problem) == 120 + 2 * sizeof(disco_filter_statistics));
HOLDS(offsetof(disco_schedule, fields) == 24);
HOLDS(sizeof(disco_schedule) == 24 + 16 * DISCO_MAX_SCHEDULE_FIELDS);

/* Called by ProblemTest.cpp, so that this file is linked. */
int disco_test_abi_bits(void);
int disco_test_abi_bits(void) { return DISCO_EPILOGUE_ALL; }
