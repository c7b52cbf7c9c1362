// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/algo/reduce.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/baseline.hpp>

#include <doctest/doctest.h>

namespace testing = isobit::testing;
namespace fs = std::filesystem;
using isobit::lanes;
using isobit::tree;
using testing::verdict;

namespace {

bool says(verdict const& v, std::string const& words) {
  bool const found = v.text().find(words) != std::string::npos;
  if (!found) MESSAGE("\"" << words << "\" is not in:\n" << v);
  return found;
}

// A folder that is removed at the end of a test.
struct folder {
  fs::path path;
  folder() {
    for (unsigned k = 0;; ++k) {
      path = fs::temp_directory_path() /
             ("isobit_baseline_" + std::to_string(std::time(nullptr)) + "_" + std::to_string(k));
      if (fs::create_directory(path)) return;
    }
  }
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

std::string read(fs::path const& p) { return testing::detail::read_file(p).value_or("missing"); }
void write(fs::path const& p, std::string const& text) { std::ofstream(p, std::ios::binary) << text; }
std::string replaced(std::string text, std::string const& from, std::string const& to) {
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::vector<std::string> const ids{testing::id_of<tree>(), "plain.float"};

template <class Order> std::vector<float> sums() {
  auto const x = testing::elements(testing::wide_exponents<float>{5}, 1000);
  std::vector<float> out;
  for (isobit::uint64_t n = 0; n <= 1000; n += 10) out.push_back(isobit::reduce<Order>(isobit::host(), x.data(), n));
  return out;
}

} // namespace

TEST_CASE("record, compare, change, record again with a reason") {
  folder const f;
  auto const file = f.path / "sums.baseline";
  CHECK(says(testing::baseline(sums<tree>, file, ids), "there is no baseline"));
  CHECK_FALSE(fs::exists(file)); // comparing never records

  CHECK(testing::update_baseline(sums<tree>, file, ids, "first recording"));
  auto const v = testing::baseline(sums<tree>, file, ids);
  CHECK(v);
  CHECK(v.compared() == 101);
  CHECK(testing::baseline(sums<tree>(), file, {ids[1], ids[0]})); // results instead of a function; ids in any order

  auto const changed = testing::baseline(sums<lanes<4>>, file, ids);
  CHECK(says(changed, "output 0 has the digest "));
  CHECK(says(changed, "first differing chunk: 0 of 4096 bytes"));
  CHECK(says(changed, "because first recording"));

  CHECK(testing::update_baseline(sums<lanes<4>>, file, ids, "lanes are wanted\nfrom now on"));
  CHECK(testing::baseline(sums<lanes<4>>, file, ids));
  std::string const text = read(file);
  CHECK(text.find("from none to ") != std::string::npos);
  CHECK(text.find("because first recording\nupdate ") != std::string::npos);
  CHECK(text.find("because lanes are wanted from now on\nend\n") != std::string::npos);
  CHECK(text.find("\nid isobit.tree.1\n") != std::string::npos);
  CHECK(text.find("\nbits-version 1\nisobit 0.") != std::string::npos);
  CHECK(std::distance(fs::directory_iterator(f.path), fs::directory_iterator{}) == 1); // nothing is left beside it
}

TEST_CASE("refuses to compare across orders, recipes and bits versions") {
  folder const f;
  auto const file = f.path / "sums.baseline";
  CHECK(testing::update_baseline(sums<tree>, file, ids, "first"));
  auto const other = testing::baseline(sums<tree>, file, {testing::id_of<lanes<4>>(), "plain.float"});
  CHECK(says(other, "not compared: "));
  CHECK(says(other, "was recorded with isobit.tree.1, plain.float, this run has isobit.lanes.4.1, plain.float"));
  CHECK(other.compared() == 0);
  CHECK(says(testing::baseline(sums<tree>, file, {testing::id_of<tree>()}), "not compared"));

  std::string const text = read(file);
  write(file, replaced(text, "bits-version 1", "bits-version 2"));
  CHECK(says(testing::baseline(sums<tree>, file, ids), "has bits version 2, this program 1"));
  write(file, replaced(text, "isobit 0.", "isobit 9."));
  CHECK(testing::baseline(sums<tree>, file, ids)); // the release does not matter
}

TEST_CASE("other types, counts and numbers of outputs") {
  folder const f;
  auto const file = f.path / "x.baseline";
  CHECK(testing::update_baseline(std::vector<float>{1, 2}, file, ids, "first"));
  CHECK(says(testing::baseline(std::vector<float>{1, 2, 3}, file, ids),
             "output 0 is 3 elements of float, 2 of float in"));
  CHECK(says(testing::baseline(std::vector<int>{0x3f800000, 0x40000000}, file, ids), "elements of int32"));
  CHECK(says(testing::baseline(std::pair(std::vector<float>{1, 2}, 1), file, ids), "2 outputs, 1 in"));
}

TEST_CASE("the first differing chunk of a large output") {
  folder const f;
  auto const file = f.path / "x.baseline";
  std::vector<float> x(200000, 1.0f);
  CHECK(testing::update_baseline(x, file, ids, "first"));
  x[150000] = 2;
  CHECK(says(testing::baseline(x, file, ids), "first differing chunk: 36 of 16384 bytes"));
}

TEST_CASE("half of a file is not a baseline, and is not overwritten") {
  folder const f;
  auto const file = f.path / "x.baseline";
  CHECK(testing::update_baseline(sums<tree>, file, ids, "first"));
  std::string const text = read(file);
  for (std::size_t length = 0; length < text.size(); length += 7) {
    write(file, text.substr(0, length));
    CHECK(says(testing::baseline(sums<tree>, file, ids), "is not a baseline, or was cut off"));
    CHECK(says(testing::update_baseline(sums<tree>, file, ids, "again"), "not overwritten"));
    CHECK(read(file) == text.substr(0, length));
  }
}

TEST_CASE("no reason, no ids, no results, no folder") {
  folder const f;
  auto const file = f.path / "x.baseline";
  CHECK_THROWS_WITH(static_cast<void>(testing::update_baseline(sums<tree>, file, ids, " \n")),
                    "isobit::testing::update_baseline: reason must be given: why do the bits change?");
  CHECK_THROWS_AS(static_cast<void>(testing::update_baseline(sums<tree>, file, {}, "first")), isobit::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(testing::update_baseline(sums<tree>, file, {"two\nlines"}, "first")),
                  isobit::invalid_argument);
  CHECK(says(testing::update_baseline(std::vector<float>{}, file, ids, "first"), "nothing was compared"));
  CHECK_FALSE(fs::exists(file));
  CHECK(says(testing::update_baseline(sums<tree>, f.path / "none" / "x", ids, "first"), "cannot write"));
}
