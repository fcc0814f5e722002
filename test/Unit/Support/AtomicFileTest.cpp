//===- AtomicFileTest.cpp - all or nothing output files -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Npy.h"

#include <cstdio>
#include <dirent.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace disco;

namespace {

/// An empty folder for one test.
class AtomicFileTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "disco-atomic-" + std::to_string(::getpid());
    ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  }
  void TearDown() override {
    for (const std::string &name : names())
      std::remove((folder + "/" + name).c_str());
    ::rmdir(folder.c_str());
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    DIR *directory = ::opendir(folder.c_str());
    while (const dirent *entry = ::readdir(directory))
      if (entry->d_name[0] != '.')
        result.push_back(entry->d_name);
    ::closedir(directory);
    return result;
  }
  std::string content(const std::string &name) const {
    std::ifstream stream(folder + "/" + name);
    return std::string((std::istreambuf_iterator<char>(stream)), {});
  }

  std::string folder;
};

TEST_F(AtomicFileTest, NothingAppearsBeforeCommit) {
  {
    Result<AtomicFile> file = AtomicFile::create(folder + "/a");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("half").ok());
    EXPECT_NE(names(), std::vector<std::string>{"a"});
  }
  EXPECT_TRUE(names().empty()) << "the temporary file was left behind";
}

TEST_F(AtomicFileTest, CommitReplacesTheOldContent) {
  std::ofstream(folder + "/a") << "old";
  Result<AtomicFile> file = AtomicFile::create(folder + "/a");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write("new").ok());
  EXPECT_EQ(content("a"), "old");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(content("a"), "new");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(AtomicFileTest, ALinkStaysALink) {
  std::ofstream(folder + "/target") << "old";
  ASSERT_EQ(::symlink("target", (folder + "/link").c_str()), 0);
  Result<AtomicFile> file = AtomicFile::create(folder + "/link");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write("new").ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(content("target"), "new");
  struct stat info;
  ASSERT_EQ(::lstat((folder + "/link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
}

TEST_F(AtomicFileTest, ADeviceIsWrittenInPlace) {
  Result<AtomicFile> file = AtomicFile::create("/dev/null");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write("gone").ok());
  ASSERT_TRUE(file->commit().ok());
  struct stat info;
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST_F(AtomicFileTest, FoldersAndMissingFoldersAreErrors) {
  EXPECT_EQ(AtomicFile::create(folder).message(),
            "cannot write '" + folder + "': it is a directory");
  const std::string path = folder + "/missing/a";
  EXPECT_EQ(AtomicFile::create(path).message(),
            "cannot write '" + path + "': No such file or directory");
}

TEST_F(AtomicFileTest, AFullDiskLeavesNothing) {
  Result<AtomicFile> file = AtomicFile::create("/dev/full");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->write("x").message(),
            "cannot write '/dev/full': No space left on device");
}

TEST_F(AtomicFileTest, MovedFromFilesLeaveTheFileAlone) {
  Result<AtomicFile> file = AtomicFile::create(folder + "/a");
  ASSERT_TRUE(file.ok());
  std::vector<AtomicFile> files;
  files.push_back(std::move(*file));
  ASSERT_TRUE(files[0].write("kept").ok());
  ASSERT_TRUE(files[0].commit().ok());
  EXPECT_EQ(content("a"), "kept");
}

} // namespace
