//===- HalfConversions.h - conversions of small floats, LLVM IR -*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the processor cannot convert half and bfloat16, LLVM calls functions
// of the compiler's support library, which not every system has (libgcc 12
// lacks those of bfloat16). An artifact brings its own. All round once, to
// nearest even; subnormal numbers, infinities and NaN (made quiet) included.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_COMPILE_HALFCONVERSIONS_H
#define DISCO_TOOLS_DISCO_COMPILE_HALFCONVERSIONS_H

namespace disco::compile {

constexpr char kHalfConversions[] = R"(
; The bits of %x in a format of %m mantissa bits whose exponent has the bias
; %bias and whose largest exponent field, that of infinity, is %top.
define internal i16 @disco.round(double %x, i64 %m, i64 %bias, i64 %top) {
  %bits = bitcast double %x to i64
  %magnitude = and i64 %bits, 9223372036854775807
  %sign.high = lshr i64 %bits, 48
  %sign = and i64 %sign.high, 32768
  %infinity = shl i64 %top, %m
  %fraction = and i64 %bits, 4503599627370495
  %field = lshr i64 %magnitude, 52
  %unbiased = sub i64 %field, 1023
  %e = add i64 %unbiased, %bias
  %drop = sub i64 52, %m
  %is.nan = icmp ugt i64 %magnitude, 9218868437227405312
  br i1 %is.nan, label %nan, label %number

nan:
  %m.1 = sub i64 %m, 1
  %quiet = shl i64 1, %m.1
  %payload = lshr i64 %fraction, %drop
  %nan.payload = or i64 %payload, %quiet
  %nan.bits = or i64 %infinity, %nan.payload
  br label %done

number:
  %too.large = icmp sge i64 %e, %top
  br i1 %too.large, label %done, label %finite

; A result with exponent field e > 0 keeps %m bits behind the leading one; one
; that is subnormal loses 1 - e bits more, and its field is 0.
finite:
  %mantissa = or i64 %fraction, 4503599627370496
  %is.subnormal = icmp sle i64 %e, 0
  %missing = sub i64 1, %e
  %more = select i1 %is.subnormal, i64 %missing, i64 0
  %shift = add i64 %drop, %more
  %vanishes = icmp sgt i64 %shift, 63
  br i1 %vanishes, label %done, label %round

round:
  %quotient = lshr i64 %mantissa, %shift
  %unit = shl i64 1, %shift
  %mask = sub i64 %unit, 1
  %rest = and i64 %mantissa, %mask
  %half = lshr i64 %unit, 1
  %above = icmp ugt i64 %rest, %half
  %tie = icmp eq i64 %rest, %half
  %last = trunc i64 %quotient to i1
  %tie.up = and i1 %tie, %last
  %up = or i1 %above, %tie.up
  %increment = zext i1 %up to i64
  %rounded = add i64 %quotient, %increment
  ; The leading one adds 1 to the field, and so does a carry.
  %e.1 = sub i64 %e, 1
  %below = select i1 %is.subnormal, i64 0, i64 %e.1
  %placed = shl i64 %below, %m
  %finite.bits = add i64 %placed, %rounded
  br label %done

done:
  %result = phi i64 [ %nan.bits, %nan ], [ %infinity, %number ],
                    [ 0, %finite ], [ %finite.bits, %round ]
  %signed = or i64 %result, %sign
  %narrow = trunc i64 %signed to i16
  ret i16 %narrow
}

define linkonce_odr hidden half @__truncdfhf2(double %x) {
  %bits = call i16 @disco.round(double %x, i64 10, i64 15, i64 31)
  %value = bitcast i16 %bits to half
  ret half %value
}

define linkonce_odr hidden half @__truncsfhf2(float %x) {
  %wide = fpext float %x to double
  %bits = call i16 @disco.round(double %wide, i64 10, i64 15, i64 31)
  %value = bitcast i16 %bits to half
  ret half %value
}

define linkonce_odr hidden bfloat @__truncdfbf2(double %x) {
  %bits = call i16 @disco.round(double %x, i64 7, i64 127, i64 255)
  %value = bitcast i16 %bits to bfloat
  ret bfloat %value
}

define linkonce_odr hidden bfloat @__truncsfbf2(float %x) {
  %wide = fpext float %x to double
  %bits = call i16 @disco.round(double %wide, i64 7, i64 127, i64 255)
  %value = bitcast i16 %bits to bfloat
  ret bfloat %value
}

define linkonce_odr hidden float @__extendhfsf2(half %x) {
  %bits = bitcast half %x to i16
  %wide = zext i16 %bits to i32
  %sign.low = and i32 %wide, 32768
  %sign = shl i32 %sign.low, 16
  %field.low = lshr i32 %wide, 10
  %field = and i32 %field.low, 31
  %fraction = and i32 %wide, 1023
  %placed = shl i32 %fraction, 13
  %is.small = icmp eq i32 %field, 0
  br i1 %is.small, label %small, label %normal

; fraction * 2^-24, exact
small:
  %integer = uitofp i32 %fraction to float
  %scaled = fmul float %integer, 0x3E70000000000000
  %small.bits = bitcast float %scaled to i32
  br label %done

normal:
  %is.special = icmp eq i32 %field, 31
  %bias = select i1 %is.special, i32 224, i32 112
  %e = add i32 %field, %bias
  %exponent = shl i32 %e, 23
  %normal.bits = or i32 %exponent, %placed
  %is.nan.fraction = icmp ne i32 %fraction, 0
  %is.nan = and i1 %is.special, %is.nan.fraction
  %quiet = select i1 %is.nan, i32 4194304, i32 0
  %quieted = or i32 %normal.bits, %quiet
  br label %done

done:
  %magnitude = phi i32 [ %small.bits, %small ], [ %quieted, %normal ]
  %signed = or i32 %magnitude, %sign
  %value = bitcast i32 %signed to float
  ret float %value
}

; The calls appear only when machine code is made.
@llvm.compiler.used = appending global [5 x ptr] [
  ptr @__truncdfhf2, ptr @__truncsfhf2, ptr @__truncdfbf2, ptr @__truncsfbf2,
  ptr @__extendhfsf2], section "llvm.metadata"
)";

} // namespace disco::compile

#endif // DISCO_TOOLS_DISCO_COMPILE_HALFCONVERSIONS_H
