// witness: digests of a partition's witness, to compare with other implementations.

#include "core/base/input_file.h"
#include "core/base/thread_pool.h"
#include "core/circuit/witness_stream.h"
#include "core/filecoin/format/recorded_witness.h"
#include "core/filecoin/partition.h"
#include "core/filecoin/request_directory.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/progress_view.h"

namespace cuzk::daemon {
namespace {

struct WitnessFlags {
  std::string request, expect;
  uint32_t partition = 0;
};

// Says whether the witness is the expected one, and if not where it differs.
StatusOr<ControlExit> Report(const Session& session, const std::vector<std::string>& differences,
                             const std::string& expected) {
  if (session.json) {
    JsonWriter json;
    json.BeginObject()
        .Member("equal", differences.empty())
        .Member("expected", expected)
        .Key("differences")
        .BeginArray();
    for (const std::string& line : differences) json.Value(line);
    PrintLine(json.EndArray().EndObject().text());
  } else if (differences.empty()) {
    PrintLine(StrCat("equal to ", expected));
  }
  for (const std::string& line : differences) {
    if (!session.json) PrintLine(StrCat("not ", expected, ": ", line));
  }
  return differences.empty() ? ControlExit::kOk : ControlExit::kFailed;
}

StatusOr<ControlExit> RunWitness(const Session& session, const WitnessFlags& flags) {
  filecoin::RecordedWitness expected, made;
  if (!flags.expect.empty()) {
    CUZK_RETURN_IF_ERROR(InputFile::Open(flags.expect).status());
    CUZK_ASSIGN_OR_RETURN(expected, filecoin::ReadWitnessJson(flags.expect, flags.partition));
    made.chunk_elements = expected.chunk_elements;
  }
  CUZK_ASSIGN_OR_RETURN(filecoin::DirectoryRequest read, filecoin::ReadRequestDirectory(flags.request));
  CUZK_ASSIGN_OR_RETURN(filecoin::ParsedRequest parsed,
                        filecoin::ParseRequest(std::move(read.request), {.allow_non_interactive = true}));
  if (flags.partition >= parsed.partitions.size()) {
    return absl::InvalidArgumentError(
        StrCat("there is no partition ", flags.partition, ": the request has ", parsed.partitions.size()));
  }
  const filecoin::Partition& partition = parsed.partitions[flags.partition];
  circuit::CircuitSpec spec = filecoin::SpecOf(*parsed.proof->circuit);
  ThreadPool pool(0);
  // What is printed is one object that others print too, so progress is for stderr alone.
  ProgressView view(/*json=*/false);
  view.Show("recording the circuit", 0);
  CUZK_ASSIGN_OR_RETURN(std::shared_ptr<const r1cs::Shape> shape, circuit::MakeShape(spec));
  circuit::WitnessDigestOptions options{.chunk_elements = made.chunk_elements,
                                        .arithmetic = session.arithmetic,
                                        .progress = ShownAs(view, "hashing rows")};
  StatusOr<circuit::WitnessDigest> digest = circuit::DigestWitness({spec, *shape, partition.inputs}, options, pool);
  view.Finish();
  if (!digest.ok()) return Annotate(digest.status(), StrCat("partition ", flags.partition));
  made.digest = *std::move(digest);
  if (flags.expect.empty()) {
    PrintLine(filecoin::WitnessJson(made));
    return ControlExit::kOk;
  }
  CUZK_ASSIGN_OR_RETURN(std::vector<std::string> differences, filecoin::Differences(spec, made, expected));
  return Report(session, differences, flags.expect);
}

}  // namespace

void AddWitness(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<WitnessFlags>();
  CLI::App* witness =
      program.add_subcommand("witness", "Print digests of a partition's witness as JSON, or compare them");
  witness->add_option("--request", flags->request, "Request directory")->required();
  witness->add_option("--partition", flags->partition, "Number of the partition, counted from 0")->required();
  witness->add_option(
      "--expect", flags->expect,
      "File with the recorded digests of one partition or of several; print the differences instead of the digests");
  commands.push_back({witness, [flags](const Session& session) { return RunWitness(session, *flags); }});
}

}  // namespace cuzk::daemon
