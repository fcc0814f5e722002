//===- PlanningPasses.td - the passes that choose and explain
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_PLANNINGPASSES_TD
#define DISCO_TRANSFORMS_PLANNINGPASSES_TD

include "mlir/Pass/PassBase.td"

class Disco_PlanningPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::disco::DiscoDialect"];
  list<Option> targetOptions = [
    Option<"target", "target", "std::string", "",
           "The chip, by name or architecture (disco-opt --list-targets); "
           "empty: each module's disco.target, or that of the module around it, or "
           "else cpu. Overrides of a disco.target of another chip are not used">,
    Option<"overrides", "overrides", "std::string", "",
           "Numbers of the chip to replace, as \"dram_gbps=3000,launch_us=4\"; the "
           "units are those of disco-opt --list-targets">,
    Option<"includePlanned", "include-planned", "bool", "false",
           "Admit families that have no kernel yet; such a plan cannot be run">];
}

def SelectKernelPass : Disco_PlanningPass<"disco-select-kernel"> {
  let summary = "choose how every contraction is run, and write it as its plan";
  let description = [{
    Order, family, provider and schedule of a contraction are chosen together,
    by predicted time; equal predictions go to the earlier row of the registry.
    Runs before `disco-materialize-filters`: tap counts are exact for
    `disco.filter` and for constant tables. For tables known only at run time the
    number of taps is that of their types, spread evenly: the degree of a `table`,
    the length of lists; 32 a point where it is dynamic. A dynamic batch is
    assumed to be `assumed-batch`, which the plan states.

    A plan written by hand is kept: what it says is honoured, and what it does
    not say (fields, target, problem) is chosen. A plan with a problem hash was
    made before and is only checked, as by `disco-verify-plan`. Options that
    force something else than a plan says are errors.

    Remarks (category `disco-select-kernel`): `passed` for the choice with its
    metrics, `missed` for every family and order that was not chosen, with the
    rule, the reason and a suggestion, or with its predicted time.

    The module's `disco.target` is set to the chip that was planned for; a module
    in it that has a `disco.target` of its own is planned for that one. Where a
    plan states another batch than `assumed-batch`, the plan's is assumed, with a
    warning.

    Errors: an unknown target, family or field; a forced choice, or a plan
    written by hand, that a rule refuses; a plan that contradicts what is forced;
    a psi that is materialised, without a plan made before; no family that is
    applicable.
  }];
  let options = targetOptions # [
    Option<"forceFamily", "force-family", "std::string", "",
           "Use this family, or fail naming the rule that refuses it">,
    Option<"forceProvider", "force-provider", "std::string", "",
           "Use this provider: codegen or runtime">,
    Option<"forceOrder", "force-order", "std::string", "",
           "Use this order in conv and conv_weight_grad: filter_first or weight_first">,
    Option<"forceFields", "force-fields", "std::string", "",
           "Use these values of fields of force-family, as \"fields=4,features=9\"">,
    Option<"assumedBatch", "assumed-batch", "int64_t", "1",
           "Samples that a dynamic batch is assumed to have">];
  let statistics = [
    Statistic<"numPlanned", "planned", "Number of plans chosen">,
    Statistic<"numKept", "kept", "Number of plans kept">,
    Statistic<"numCounted", "filters-counted", "Number of filters whose taps were counted">];
}

def AssignLayoutPass : Disco_PlanningPass<"disco-assign-layout"> {
  let summary = "carry activations in the layouts that kernels want";
  let description = [{
    Gives contractions the physical shapes that their plans' `kernel_layout` asks
    for, and carries them through elementwise operations in between (arith, math
    and linalg, also with vectors of channels and scalars that are broadcast), so
    that as few bytes as possible change their layout. Where they do, the change
    is a `linalg.pack`, `linalg.unpack` or `linalg.transpose`:

    ```
    nchw [B, C, H, W] -> linalg.pack -> c8 [B, ceil(C/8), H, W, 8]
    ```

    Padding channels hold zeros: an operation that does not map zeros to zeros
    is carried in c8 only if no channel is padding. Arguments and results of
    functions, the features of `disco.contract` and `disco.contract_sum`, and all
    other operations, see nchw.

    Where a plan was written for tensors that are in a layout already, and its
    kernel wants another one, the change is at the operation.

    A pack of an unpack of the same layout folds, also with padding, where the
    padding is known to be zeros. Plans are updated: `layout` becomes
    `kernel_layout`, and the problem hash that of the new problem.
  }];
  let dependentDialects = [
    "::mlir::disco::DiscoDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numRepacks", "repacks", "Number of layout changes">,
    Statistic<"numCarried", "carried", "Number of elementwise operations in another layout">];
}

def VerifyPlanPass : Disco_PlanningPass<"disco-verify-plan"> {
  let summary = "check plans against their operations and the chip";
  let description = [{
    Checks every plan by the rules that selection uses.

    Errors: a plan for another target; a problem hash that is not that of the
    operation (something changed it after it was planned); fields that are
    missing, or that a rule of the family refuses; a family that is not
    applicable, or that has no kernel yet (unless `include-planned`); a
    `kernel_layout` that is not the family's; an assumed batch where the batch is
    static.

    Of operations whose psi is materialised only the target and whether the
    family is available are checked, because the tap counts are gone.
  }];
  let options = targetOptions;
  let statistics = [Statistic<"numVerified", "verified", "Number of plans checked">];
}

def ExplainPass : Disco_PlanningPass<"disco-explain"> {
  let summary = "write a walkthrough of every planned operation";
  let description = [{
    For each contraction with a plan: what it computes, how it is dispatched and
    why every other family was rejected, the work of a thread, the flow of
    bytes, what bounds it, its instructions, and where the sources are. Each
    figure carries its provenance: exact (from the IR), model (cost model and
    chip table), toolchain, measured. The text is a function of the module and
    the options.

    `kernel` restricts the walkthrough to the operations that run one kernel.

    Errors: a plan that does not verify; no operation that runs `kernel`; a file
    that cannot be written.
  }];
  let options = targetOptions # [
    Option<"output", "output", "std::string", "\"-\"",
           "The file to write; - is the standard error stream">,
    Option<"format", "format", "std::string", "\"md\"",
           "md (Markdown) or json">,
    Option<"kernel", "kernel", "std::string", "",
           "Only operations that run this kernel: its symbol (disco_cpu_gather_run) "
           "or a family; empty: all">];
}

#endif // DISCO_TRANSFORMS_PLANNINGPASSES_TD
