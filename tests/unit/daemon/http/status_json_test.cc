#include "daemon/http/status_json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace cuzk::daemon {
namespace {

engine::EngineStatus Busy() {
  engine::EngineStatus status;
  status.uptime_seconds = 61.5;
  status.budget.limit_bytes = 1000;
  status.budget.used_bytes = 400;
  status.synthesis_threads = 2;
  status.synthesis_active = 1;
  for (auto kind : {filecoin::Kind::kPorep, filecoin::Kind::kSnap, filecoin::Kind::kWindow, filecoin::Kind::kWinning}) {
    status.kinds[kind] = {.pending = 1, .completed_total = 3, .failed_total = 2};
  }
  engine::JobStatus job;
  job.progress.job_id = "wdpost-1000-0-[18 52]\n";
  job.progress.kind = filecoin::Kind::kWindow;
  job.progress.partitions_total = 2;
  job.submitted_seconds_ago = 5;
  job.partitions = {{.index = 0, .state = engine::PartitionState::kDone, .synthesis_ms = 12, .device_ms = 34},
                    {.index = 1, .state = engine::PartitionState::kPending}};
  status.jobs.push_back(job);
  engine::DeviceStatus device{.name = "cpu", .ordinal = -1};
  device.workers = {
      {.worker = 0, .job_key = 1, .job_id = "x", .kind = filecoin::Kind::kWindow, .partition = 1, .busy_seconds = 2.5},
      {.worker = 1}};
  device.identity.uuid = "GPU-12";
  device.pool = {.total_bytes = 64, .used_bytes = 32, .slabs = 2, .used_slabs = 1};
  status.devices.push_back(device);
  status.last_errors = {{"a \"quoted\" error", 7.5}};
  return status;
}

TEST(StatusJsonTest, EveryKeyThatCuriosPageReadsIsThere) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string text = StatusJson(Busy());
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text;
  for (const char* pointer : {"/uptime_secs",
                              "/memory/total_bytes",
                              "/memory/used_bytes",
                              "/memory/available_bytes",
                              "/synthesis/max_concurrent",
                              "/synthesis/active",
                              "/pipelines/0/job_id",
                              "/pipelines/0/proof_kind",
                              "/pipelines/0/started_secs_ago",
                              "/pipelines/0/total_partitions",
                              "/pipelines/0/partitions_done",
                              "/pipelines/0/partitions/0/index",
                              "/pipelines/0/partitions/0/state",
                              "/pipelines/0/partitions/0/synth_ms",
                              "/pipelines/0/partitions/0/gpu_ms",
                              "/gpu_workers/0/worker_id",
                              "/gpu_workers/0/gpu_ordinal",
                              "/gpu_workers/0/state",
                              "/gpu_workers/0/current_job",
                              "/gpu_workers/0/current_partition",
                              "/gpu_workers/0/busy_secs",
                              "/allocations/srs",
                              "/allocations/pce",
                              "/counters/total_completed",
                              "/counters/total_failed",
                              "/counters/completed_by_kind/porep-c2",
                              "/counters/failed_by_kind/snap-update",
                              "/counters/queue_depth",
                              "/buffers/synth_in_flight",
                              "/buffers/provers_in_flight",
                              "/buffers/aux_in_flight",
                              "/buffers/shells_in_flight",
                              "/buffers/pending_handles"}) {
    EXPECT_EQ(root.at_pointer(pointer).error(), simdjson::SUCCESS) << pointer << " in " << text;
  }
  EXPECT_EQ(root["memory"]["available_bytes"].get_uint64().value(), 600u);
  EXPECT_EQ(root["pipelines"].get_array().value().size(), 1u);  // what ended is shown for 30 s
  EXPECT_EQ(root["pipelines"].at(0)["job_id"].get_string().value(), "wdpost-1000-0-[18 52]\n");
  EXPECT_TRUE(root["pipelines"].at(0)["partitions"].at(1)["synth_ms"].is_null());
  EXPECT_EQ(root["gpu_workers"].at(0)["state"].get_string().value(), "proving");
  EXPECT_EQ(root["gpu_workers"].at(1)["state"].get_string().value(), "idle");
  EXPECT_TRUE(root["gpu_workers"].at(1)["current_job"].is_null());
  EXPECT_EQ(root["counters"]["total_completed"].get_uint64().value(), 12u);
  EXPECT_EQ(root["counters"]["queue_depth"].get_uint64().value(), 4u);
}

// One entry a circuit, whatever the number of devices that hold it.
TEST(StatusJsonTest, ParametersAreTold) {
  engine::EngineStatus status = Busy();
  using State = prover::ParameterStatus::State;
  status.parameters = {
      {.circuit = "porep-32g",
       .state = State::kReady,
       .host_bytes = 10,
       .device_bytes = 90,
       .last_used_seconds_ago = 50},
      {.circuit = "porep-32g", .state = State::kReady, .device_bytes = 100, .last_used_seconds_ago = 7},
      {.circuit = "snap-32g", .state = State::kReady, .device_bytes = 5, .development = true, .in_use = true},
      {.circuit = "wpost-32g", .state = State::kLoading, .fraction = 0.25}};
  status.parameter_users = {{"snap-32g", 3}};
  simdjson::dom::parser parser;
  simdjson::dom::element root = parser.parse(StatusJson(status)).value();
  auto srs = root["allocations"]["srs"];
  ASSERT_EQ(srs.get_array().value().size(), 3u);
  EXPECT_EQ(srs.at(0)["bytes"].get_uint64().value(), 200u);
  EXPECT_EQ(srs.at(0)["last_used_secs_ago"].get_double().value(), 7);
  EXPECT_TRUE(srs.at(0)["evictable"].get_bool().value());
  EXPECT_EQ(srs.at(0)["ref_count"].get_uint64().value(), 0u);
  EXPECT_EQ(srs.at(0)["devices"].get_uint64().value(), 2u);
  EXPECT_EQ(srs.at(1)["ref_count"].get_uint64().value(), 3u);
  EXPECT_FALSE(srs.at(1)["evictable"].get_bool().value());
  EXPECT_TRUE(srs.at(1)["development"].get_bool().value());
  EXPECT_FALSE(srs.at(2)["ready"].get_bool().value());
  EXPECT_FALSE(srs.at(2)["evictable"].get_bool().value());
  EXPECT_EQ(srs.at(2)["fraction"].get_double().value(), 0.25);
}

TEST(StatusJsonTest, WhatThePageShowsOfAJobAndOfTheMachineIsTold) {
  engine::EngineStatus status = Busy();
  status.jobs[0].subject = {.miner = 1000, .sector = 84, .partition = 3};
  status.jobs[0].place = 5;
  status.kinds[filecoin::Kind::kSnap].cancelled_total = 6;
  MachineFacts machine{.host = "prover-07", .cards = {{.uuid = "GPU-0"}, {.uuid = "GPU-12"}}};
  machine.cards[1].temperature_celsius = 61;
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(StatusJson(status, machine)).value();
  EXPECT_EQ(root["host"].get_string().value(), "prover-07");
  const auto job = root["pipelines"].at(0);
  EXPECT_EQ(job["kind"].get_string().value(), "window");
  EXPECT_EQ(job["miner_id"].get_uint64().value(), 1000u);
  EXPECT_EQ(job["sector_number"].get_uint64().value(), 84u);
  EXPECT_EQ(job["partition_index"].get_uint64().value(), 3u);
  EXPECT_EQ(job["place"].get_uint64().value(), 5u);
  EXPECT_TRUE(job["deadline_secs"].is_null());
  EXPECT_EQ(root["counters"]["cancelled_by_kind"]["snap-update"].get_uint64().value(), 6u);
  const auto card = root["devices"].at(0)["card"];
  EXPECT_EQ(card["temperature_celsius"].get_uint64().value(), 61u);
  EXPECT_TRUE(card["power_watts"].is_null());
  status.jobs[0].deadline_seconds = 12.5;
  simdjson::dom::parser other;
  const simdjson::dom::element plain = other.parse(StatusJson(status)).value();
  EXPECT_EQ(plain["pipelines"].at(0)["deadline_secs"].get_double().value(), 12.5);
  EXPECT_TRUE(plain["devices"].at(0)["card"].is_null());
}

TEST(StatusJsonTest, DevicesAndErrorsAreTold) {
  simdjson::dom::parser parser;
  simdjson::dom::element root = parser.parse(StatusJson(Busy())).value();
  auto device = root["devices"].at(0);
  EXPECT_TRUE(device["gpu_ordinal"].is_null());  // the CPU device
  EXPECT_EQ(device["uuid"].get_string().value(), "GPU-12");
  EXPECT_TRUE(device["healthy"].get_bool().value());
  EXPECT_EQ(device["pool_total_bytes"].get_uint64().value(), 64u);
  EXPECT_EQ(device["pool_used_buffers"].get_uint64().value(), 1u);
  EXPECT_EQ(root["gpu_workers"].at(0)["track"].get_string().value(), "device 0 worker 0");
  EXPECT_EQ(root["last_errors"].at(0)["text"].get_string().value(), "a \"quoted\" error");
  EXPECT_EQ(root["last_errors"].at(0)["secs_ago"].get_double().value(), 7.5);
  EXPECT_EQ(root["counters"]["pending_by_kind"]["porep-c2"].get_uint64().value(), 1u);
}

}  // namespace
}  // namespace cuzk::daemon
