//===- ArtifactTest.cpp - opening and querying artifacts ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace disco;

namespace {

using ArtifactTest = RuntimeTest;

/// A copy of the good artifact, changed by `change`.
std::string changedCopy(const char *name, void (*change)(std::string &)) {
  std::ifstream stream(artifactPath("good"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_FALSE(bytes.empty());
  change(bytes);
  const std::string path = testing::TempDir() + "disco-artifact-" +
                           std::to_string(::getpid()) + "-" + name + ".so";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST_F(ArtifactTest, DescribesItself) {
  EXPECT_STREQ(disco_artifact_target(artifact), "cpu");
  EXPECT_STREQ(disco_artifact_cpu(artifact), "x86-64");
  EXPECT_STREQ(disco_artifact_cpu_features(artifact), "");
  EXPECT_STREQ(disco_artifact_producer(artifact), "by hand");
  EXPECT_EQ(disco_artifact_num_entries(artifact), 9);
  EXPECT_EQ(disco_artifact_num_probes(artifact), 0);
  const disco_entry *entry = nullptr;
  ASSERT_EQ(disco_artifact_entry(artifact, 2, &entry), DISCO_OK);
  EXPECT_STREQ(disco_entry_name(entry), "halve");
  EXPECT_STREQ(disco_entry_plan(entry), "");
  EXPECT_EQ(disco_entry_is_strided(entry), 0);
  EXPECT_EQ(disco_entry_num_inputs(entry), 1);
  EXPECT_EQ(disco_entry_num_outputs(entry), 2);
  disco_tensor_type type;
  ASSERT_EQ(disco_entry_input(entry, 0, &type), DISCO_OK);
  EXPECT_STREQ(type.name, "x");
  EXPECT_EQ(type.dtype, DISCO_I64);
  EXPECT_EQ(type.rank, 1);
  EXPECT_EQ(type.dims[0], -1);
  ASSERT_EQ(disco_entry_output(entry, 1, &type), DISCO_OK);
  EXPECT_EQ(type.rank, 0);
  ASSERT_EQ(disco_artifact_find_entry(artifact, "add", &entry), DISCO_OK);
  EXPECT_EQ(disco_entry_is_strided(entry), 1);
  ASSERT_EQ(disco_artifact_find_entry(artifact, "scale", &entry), DISCO_OK);
  EXPECT_STREQ(disco_entry_plan(entry), "doubles x");
}

TEST_F(ArtifactTest, NamesTheEntriesWhenOneIsMissing) {
  const disco_entry *entry = nullptr;
  EXPECT_FAILURE(disco_artifact_find_entry(artifact, "main", &entry),
                 DISCO_NOT_FOUND,
                 "expected '" + artifactPath("good") +
                     "' to have an entry 'main', but it has scale, add, halve, "
                     "fail, fail_quietly, fail_oddly, no_workspace, "
                     "greedy, wrong_shapes");
  EXPECT_EQ(entry, nullptr);
}

TEST_F(ArtifactTest, ChecksIndicesAndPointersOfQueries) {
  const disco_entry *entry = nullptr;
  EXPECT_FAILURE(disco_artifact_entry(artifact, 9, &entry),
                 DISCO_INVALID_ARGUMENT,
                 "expected entry index to be in [0, 9), but got 9");
  EXPECT_FAILURE(disco_artifact_entry(artifact, -1, &entry),
                 DISCO_INVALID_ARGUMENT,
                 "expected entry index to be in [0, 9), but got -1");
  EXPECT_FAILURE(disco_artifact_entry(artifact, 0, nullptr),
                 DISCO_INVALID_ARGUMENT,
                 "expected the result to be a pointer, but got null");
  EXPECT_FAILURE(disco_artifact_entry(nullptr, 0, &entry),
                 DISCO_INVALID_ARGUMENT,
                 "expected the handle to be a pointer, but got null");
  ASSERT_EQ(disco_artifact_entry(artifact, 0, &entry), DISCO_OK);
  disco_tensor_type type;
  EXPECT_FAILURE(disco_entry_input(entry, 1, &type), DISCO_INVALID_ARGUMENT,
                 "expected input index to be in [0, 1), but got 1");
  EXPECT_FAILURE(disco_entry_output(entry, 1, &type), DISCO_INVALID_ARGUMENT,
                 "expected output index to be in [0, 1), but got 1");
  EXPECT_FAILURE(disco_artifact_find_entry(artifact, nullptr, &entry),
                 DISCO_INVALID_ARGUMENT,
                 "expected name to be a pointer, but got null");
  disco_abi_probe probe;
  EXPECT_FAILURE(disco_artifact_probe(artifact, 0, &probe),
                 DISCO_INVALID_ARGUMENT,
                 "expected probe index to be in [0, 0), but got 0");
  // Queries of nothing answer with nothing.
  EXPECT_EQ(disco_artifact_num_entries(nullptr), 0);
  EXPECT_STREQ(disco_artifact_target(nullptr), "");
  EXPECT_STREQ(disco_entry_name(nullptr), "");
  EXPECT_EQ(disco_entry_num_inputs(nullptr), 0);
  disco_artifact_close(nullptr);
}

TEST(Artifact, FilesThatAreNoArtifactsAreRefused) {
  disco_artifact *artifact = nullptr;
  EXPECT_FAILURE(disco_artifact_open(nullptr, &artifact),
                 DISCO_INVALID_ARGUMENT,
                 "expected path to be a pointer, but got null");
  EXPECT_FAILURE(disco_artifact_open("missing.so", nullptr),
                 DISCO_INVALID_ARGUMENT,
                 "expected artifact to be a pointer, but got null");
  EXPECT_FAILURE(disco_artifact_open("missing.so", &artifact), DISCO_NOT_FOUND,
                 "cannot open 'missing.so': No such file or directory");
  EXPECT_FAILURE(disco_artifact_open("/", &artifact), DISCO_IO_ERROR,
                 "cannot open '/': it is not a regular file");
  const auto refuse = [&](const std::string &path, disco_status status,
                          const std::string &message) {
    EXPECT_FAILURE(disco_artifact_open(path.c_str(), &artifact), status,
                   message);
    std::remove(path.c_str());
  };
  std::string path =
      changedCopy("text", [](std::string &bytes) { bytes = "hello"; });
  refuse(path, DISCO_ABI_MISMATCH,
         "expected '" + path +
             "' to be a shared library (64-bit little-endian ELF), but it is "
             "not");
  path = changedCopy("machine", [](std::string &bytes) { bytes[18] = '\x08'; });
  EXPECT_EQ(disco_artifact_open(path.c_str(), &artifact),
            DISCO_UNSUPPORTED_TARGET);
  EXPECT_NE(std::string(disco_last_error()).find(", but got 8"),
            std::string::npos)
      << disco_last_error();
  std::remove(path.c_str());
  path = changedCopy("type", [](std::string &bytes) { bytes[16] = 2; });
  refuse(path, DISCO_ABI_MISMATCH,
         "expected '" + path +
             "' to have ELF type 3 (shared library), but got 2");
  path = changedCopy("phentsize", [](std::string &bytes) { bytes[54] = 55; });
  refuse(path, DISCO_ABI_MISMATCH,
         "expected program headers of '" + path +
             "' to be 56 bytes long, but got 55");
  EXPECT_EQ(artifact, nullptr);
}

TEST(Artifact, TruncatedFilesAreRefusedAndNotLoaded) {
  disco_artifact *artifact = nullptr;
  std::string path =
      changedCopy("short", [](std::string &bytes) { bytes.resize(4096); });
  EXPECT_EQ(disco_artifact_open(path.c_str(), &artifact), DISCO_IO_ERROR);
  EXPECT_NE(std::string(disco_last_error()).find("bytes long, but got 4096"),
            std::string::npos)
      << disco_last_error();
  std::remove(path.c_str());
  path = changedCopy("headers", [](std::string &bytes) { bytes.resize(100); });
  EXPECT_EQ(disco_artifact_open(path.c_str(), &artifact), DISCO_IO_ERROR);
  EXPECT_NE(std::string(disco_last_error())
                .find("program headers, but it is truncated at 100 bytes"),
            std::string::npos)
      << disco_last_error();
  std::remove(path.c_str());
}

TEST(Artifact, FilesWithoutTheirLastByteAreRefused) {
  disco_artifact *artifact = nullptr;
  const std::string path =
      changedCopy("tail", [](std::string &bytes) { bytes.pop_back(); });
  EXPECT_EQ(disco_artifact_open(path.c_str(), &artifact), DISCO_IO_ERROR);
  EXPECT_NE(std::string(disco_last_error())
                .find("section headers, but it is truncated at "),
            std::string::npos)
      << disco_last_error();
  std::remove(path.c_str());
}

TEST(Artifact, TheLoadersMessageIsPassedOn) {
  disco_artifact *artifact = nullptr;
  const std::string path = artifactPath("no_library");
  EXPECT_EQ(disco_artifact_open(path.c_str(), &artifact), DISCO_IO_ERROR);
  const std::string message = disco_last_error();
  EXPECT_EQ(message.find("cannot load '" + path + "': "), 0u) << message;
  EXPECT_NE(message.find("a_function_that_is_nowhere"), std::string::npos)
      << message;
}

struct Lie {
  const char *name, *message; // behind "expected artifact '...' to have "
};

class LyingArtifact : public testing::TestWithParam<Lie> {};

INSTANTIATE_TEST_SUITE_P(
    Lies, LyingArtifact,
    testing::Values(
        Lie{"magic", "magic 0x4f435344, but got 0x46464f43"},
        Lie{"version", "ABI version 1, but got 2"},
        Lie{"struct_size", "struct_size 88, but got 80"},
        Lie{"entry_size", "entry_size 96, but got 64"},
        Lie{"probe_size", "probe_size 32, but got 40"},
        Lie{"no_target", "texts, but got null"},
        Lie{"num_entries", "a number of entries in [0, 4096], but got -1"},
        Lie{"num_probes",
            "a number of probes in [0, 1048576], but got 2097152"},
        Lie{"no_entries", "entries, but got null"},
        Lie{"no_probes", "probes, but got null"},
        Lie{"no_name", "a name of entry 0, but got null"},
        Lie{"no_plan", "a plan of entry 'main', but got null"},
        Lie{"no_code", "code of entry 'main', but got null"},
        Lie{"flags", "flags of entry 'main' in [0, 1], but got 2"},
        Lie{"num_inputs",
            "a number of inputs of entry 'main' in [0, 64], but got 65"},
        Lie{"num_outputs",
            "a number of outputs of entry 'main' in [0, 64], but got -1"},
        Lie{"no_inputs", "inputs of entry 'main', but got null"},
        Lie{"rank", "a rank of input 0 of entry 'main' in [0, 8], but got 9"},
        Lie{"dtype",
            "an element type of input 0 of entry 'main' in [0, 5], but got 6"},
        Lie{"no_dims", "dimensions of input 0 of entry 'main', but got null"},
        Lie{"no_output_shapes",
            "an output_shapes function of entry 'main', but got null"},
        Lie{"probe_text", "texts of probe 0, but got null"},
        Lie{"probe_operands",
            "a number of operands of probe 0 in [0, 64], but got 65"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST_P(LyingArtifact, IsRefused) {
  disco_artifact *artifact = nullptr;
  const std::string path = artifactPath(GetParam().name);
  EXPECT_FAILURE(
      disco_artifact_open(path.c_str(), &artifact), DISCO_ABI_MISMATCH,
      "expected artifact '" + path + "' to have " + GetParam().message);
  EXPECT_EQ(artifact, nullptr);
}

TEST(Artifact, EntriesWithOneNameAreRefused) {
  disco_artifact *artifact = nullptr;
  const std::string path = artifactPath("same_names");
  EXPECT_FAILURE(disco_artifact_open(path.c_str(), &artifact),
                 DISCO_ABI_MISMATCH,
                 "expected entries of artifact '" + path +
                     "' to have different names, but entries 0 and 1 are both "
                     "'main'");
}

TEST(Artifact, LibrariesWithoutTheSymbolAreRefused) {
  disco_artifact *artifact = nullptr;
  const std::string path = artifactPath("no_symbol");
  EXPECT_FAILURE(
      disco_artifact_open(path.c_str(), &artifact), DISCO_ABI_MISMATCH,
      "expected '" + path + "' to export disco_artifact_root, but it does not");
}

TEST_F(ArtifactTest, OtherMachinesOpenButDoNotPrepare) {
  disco_artifact *other = nullptr;
  const std::string path = artifactPath("feature");
  ASSERT_EQ(disco_artifact_open(path.c_str(), &other), DISCO_OK)
      << disco_last_error();
  const disco_entry *entry = nullptr;
  ASSERT_EQ(disco_artifact_find_entry(other, "main", &entry), DISCO_OK);
  EXPECT_FAILURE(disco_prepare(context, entry), DISCO_UNSUPPORTED_TARGET,
                 "expected the processor to have the feature 'warp-drive', "
                 "which '" +
                     path + "' (built for x86-64) needs, but it has not");
  disco_artifact_close(other);
}

TEST(Artifact, UnknownTargetsAreNamedWhenOpened) {
  disco_artifact *artifact = nullptr;
  const std::string path = artifactPath("target");
  EXPECT_FAILURE(disco_artifact_open(path.c_str(), &artifact),
                 DISCO_UNSUPPORTED_TARGET,
                 "expected artifact '" + path +
                     "' to have target cpu or cuda:sm_N, N at least 80 "
                     "(cuda:sm_90a), but got 'tpu'");
  EXPECT_EQ(artifact, nullptr);
}

} // namespace
