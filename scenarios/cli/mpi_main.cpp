// phaselock-mpi SCENARIO --out DIR [options of `phaselock run`]: rank i of n runs shard i/n of a sweep into DIR.shards/i-of-n,
// resuming what is there; then rank 0 merges all shards into DIR. Standard output is rank 0's, of the merge.
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "output/failure.hpp"

namespace {

int run(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return phaselock::command_line(int(pointers.size()), pointers.data());
}

/// The same without its standard output.
int run_silently(std::vector<std::string> arguments) {
  const int output = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  const int code = run(std::move(arguments));
  std::fflush(stdout);
  dup2(output, STDOUT_FILENO);
  close(output);
  close(nowhere);
  return code;
}

/// Takes `--out DIR` or `--out=DIR` out of the arguments; empty if there is none.
std::string take_out(std::vector<std::string>& arguments) {
  const auto option = std::find_if(arguments.begin(), arguments.end(),
                                   [](const std::string& a) { return a == "--out" || a.starts_with("--out="); });
  if (option == arguments.end()) return "";
  const bool apart = *option == "--out";
  if (apart && option + 1 == arguments.end()) return "";
  std::string folder = apart ? *(option + 1) : option->substr(6);
  arguments.erase(option, option + (apart ? 2 : 1));
  return folder;
}

std::string shard_folder(const std::string& out, int rank, int ranks) {
  return fmt::format("{}.shards/{}-of-{}", out, rank, ranks);
}

int run_rank(std::vector<std::string> arguments, int rank, int ranks) {
  const std::string out = take_out(arguments);
  if (out.empty()) {
    if (rank == 0) phaselock::tell("phaselock-mpi SCENARIO --out DIR [options of `phaselock run`]: --out is needed\n");
    return int(phaselock::Exit::bad_scenario);
  }
  std::vector<std::string> shard = {"phaselock", "run"};
  shard.insert(shard.end(), arguments.begin(), arguments.end());
  for (const std::string& option : {std::string("--out"), shard_folder(out, rank, ranks), std::string("--shard"),
                                    fmt::format("{}/{}", rank, ranks), std::string("--resume"), std::string("--quiet")})
    shard.push_back(option);
  const int own = run_silently(std::move(shard));
  int worst = own;
  MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (worst == int(phaselock::Exit::done) && rank == 0) {
    std::vector<std::string> merge = {"phaselock", "merge", out};
    for (int r = 0; r < ranks; ++r) merge.push_back(shard_folder(out, r, ranks));
    worst = run(std::move(merge));
  }
  MPI_Bcast(&worst, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int code = run_rank({argv + 1, argv + argc}, rank, ranks);
  MPI_Finalize();
  return code;
}
