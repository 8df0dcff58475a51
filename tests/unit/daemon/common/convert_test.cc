#include "daemon/common/convert.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

namespace cuzk::daemon {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

// The bytes that a client sends: the numbers and types of the message layout, worked out by hand from the published
// example of a WinningPoSt request.
TEST(ConvertTest, APublishedRequestIsReadField) {
  std::string submit;
  submit += std::string("\x0a\x0f") + "winpost-1000-00";
  submit += std::string("\x10\x04\x18\x80\x80\x80\x80\x80\x01\x20\x03\x28\x04", 13);
  submit += std::string("\x5a\x02\x00\x01\xa8\x01\xe8\x07\xb2\x01\x20", 11) + std::string(32, '\x11');
  ASSERT_EQ(submit.size(), 73u);
  v1::ProveRequest message;
  ASSERT_TRUE(message.ParseFromString("\x0a\x49" + submit));
  engine::ProofRequest request = ToProofRequest(std::move(*message.mutable_submit()));
  EXPECT_EQ(request.request_id, "winpost-1000-00");
  EXPECT_EQ(request.priority, 4u);
  EXPECT_EQ(request.vanilla.kind, 4u);
  EXPECT_EQ(request.vanilla.sector_size, uint64_t{1} << 35);
  EXPECT_EQ(request.vanilla.registered_proof, 3u);
  EXPECT_EQ(request.vanilla.miner_id, 1000u);
  EXPECT_EQ(request.vanilla.randomness, std::string(32, '\x11'));
  EXPECT_THAT(request.vanilla.vanilla_proofs, ::testing::ElementsAre(std::string("\0\1", 2)));
}

// Fills every field of a message with a value of its own.
void FillEveryField(google::protobuf::Message& message) {
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const int value = field->number() + 1;
    std::string text = StrCat("field ", value);
    if (field->is_repeated()) {
      reflection->AddString(&message, field, text);
      reflection->AddString(&message, field, text + "b");
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      reflection->SetString(&message, field, text);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      reflection->SetUInt64(&message, field, uint64_t{1} << 40 | static_cast<uint64_t>(value));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
      reflection->SetUInt32(&message, field, static_cast<uint32_t>(value));
    } else {
      ASSERT_EQ(field->cpp_type(), FieldDescriptor::CPPTYPE_ENUM);
      reflection->SetEnumValue(&message, field, 1);
    }
  }
}

// A field that was added to the message and forgotten in the conversion is found here. (The priority goes back as the
// kind's own.)
TEST(ConvertTest, NoFieldOfARequestIsLost) {
  v1::SubmitProofRequest message;
  FillEveryField(message);
  message.set_proof_kind(v1::SNAP_DEALS_UPDATE);
  message.set_priority(v1::NORMAL);
  v1::SubmitProofRequest copy = message;
  engine::ProofRequest request = ToProofRequest(std::move(copy));
  EXPECT_EQ(request.priority, 2u);
  v1::SubmitProofRequest back = ToSubmitMessage(request.request_id, std::move(request.vanilla));
  EXPECT_TRUE(MessageDifferencer::Equals(message, back)) << back.DebugString();
}

TEST(ConvertTest, ThePayloadIsMovedNotCopied) {
  v1::SubmitProofRequest message;
  message.set_vanilla_proof(std::string(1 << 20, 'x'));
  message.add_vanilla_proofs(std::string(1 << 20, 'y'));
  const char* proof = message.vanilla_proof().data();
  const char* item = message.vanilla_proofs(0).data();
  engine::ProofRequest request = ToProofRequest(std::move(message));
  EXPECT_EQ(request.vanilla.vanilla_proof.data(), proof);
  EXPECT_EQ(request.vanilla.vanilla_proofs[0].data(), item);
}

TEST(ConvertTest, MoreItemsThanAnyProofTakesAreRefused) {
  v1::SubmitProofRequest message;
  for (int i = 0; i < 2349; ++i) message.add_vanilla_proofs();  // WindowPoSt of 32 GiB
  EXPECT_EQ(CheckFieldSizes(message), absl::OkStatus());
  message.add_vanilla_proofs();
  EXPECT_EQ(CheckFieldSizes(message),
            absl::InvalidArgumentError("vanilla_proofs has 2350 items, but no registered proof takes more than 2349"));
}

TEST(ConvertTest, ElementsHaveTheirLengthOrAreAbsent) {
  const auto* descriptor = v1::SubmitProofRequest::descriptor();
  for (const char* name : {"randomness", "comm_r_old", "comm_r_new", "comm_d_new"}) {
    const FieldDescriptor* field = descriptor->FindFieldByName(name);
    for (size_t size : {0u, 1u, 31u, 32u, 33u, 100000u}) {
      v1::SubmitProofRequest message;
      message.GetReflection()->SetString(&message, field, std::string(size, 'x'));
      const Status wanted = size == 0 || size == 32
                                ? absl::OkStatus()
                                : absl::InvalidArgumentError(StrCat(name, " has ", size, " bytes, not 32"));
      EXPECT_EQ(CheckFieldSizes(message), wanted);
    }
  }
}

TEST(ConvertTest, UnknownEnumNumbersArriveAsTheyAre) {
  v1::SubmitProofRequest message;
  message.set_proof_kind(static_cast<v1::ProofKind>(99));
  message.set_priority(static_cast<v1::Priority>(-1));
  engine::ProofRequest request = ToProofRequest(std::move(message));
  EXPECT_EQ(request.vanilla.kind, 99u);
  EXPECT_GT(request.priority, 4u);
}

TEST(ConvertTest, EveryStatusOfTheContractKeepsItsCode) {
  for (auto code : {absl::StatusCode::kInvalidArgument, absl::StatusCode::kResourceExhausted,
                    absl::StatusCode::kUnavailable, absl::StatusCode::kFailedPrecondition, absl::StatusCode::kNotFound,
                    absl::StatusCode::kUnimplemented, absl::StatusCode::kCancelled}) {
    grpc::Status status = ToGrpc(Status(code, "text"));
    EXPECT_EQ(static_cast<int>(status.error_code()), static_cast<int>(code));
    EXPECT_EQ(status.error_message(), "text");
    EXPECT_EQ(FromGrpc(status), Status(code, "text"));
  }
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
  // What is not in the contract is our mistake.
  for (auto code : {absl::StatusCode::kInternal, absl::StatusCode::kUnknown, absl::StatusCode::kDataLoss,
                    absl::StatusCode::kOutOfRange}) {
    EXPECT_EQ(ToGrpc(Status(code, "")).error_code(), grpc::StatusCode::INTERNAL);
  }
  // What another program holds may be had later.
  EXPECT_EQ(ToGrpc(absl::AbortedError("locked")).error_code(), grpc::StatusCode::UNAVAILABLE);
}

// A status travels in a header; beyond 8 KiB the client would see a broken stream instead of the error.
TEST(ConvertTest, LongTextsFitIntoAHeader) {
  grpc::Status status = ToGrpc(absl::InvalidArgumentError(std::string(100'000, '\n')));
  EXPECT_LE(status.error_message().size() * 3, 8000u);
  EXPECT_THAT(status.error_message(), HasSubstr("..."));
}

TEST(ConvertTest, ACompletedJobHasProofAndTimes) {
  engine::JobResult result{.job_id = "a",
                           .kind = filecoin::Kind::kPorep,
                           .state = engine::JobState::kCompleted,
                           .proof = std::make_shared<const std::string>(192, 'p'),
                           .timings = {1, 2, 3, 4, 15}};
  v1::AwaitProofResponse response = ToAwaitResponse(result);
  EXPECT_EQ(response.job_id(), "a");
  EXPECT_EQ(response.status(), v1::AwaitProofResponse::COMPLETED);
  EXPECT_EQ(response.proof(), std::string(192, 'p'));
  EXPECT_EQ(response.queue_wait_ms(), 1u);
  EXPECT_EQ(response.srs_load_ms(), 2u);
  EXPECT_EQ(response.synthesis_ms(), 3u);
  EXPECT_EQ(response.gpu_compute_ms(), 4u);
  EXPECT_EQ(response.total_ms(), 15u);
}

TEST(ConvertTest, AFailedJobHasItsReasonAndNoProof) {
  engine::JobResult result{.job_id = "a",
                           .state = engine::JobState::kFailed,
                           .error = "partition 3, challenge 7: x",
                           .timings = {1, 2, 3, 4, 5}};
  v1::AwaitProofResponse response = ToAwaitResponse(result);
  EXPECT_EQ(response.status(), v1::AwaitProofResponse::FAILED);
  EXPECT_EQ(response.error_message(), "partition 3, challenge 7: x");
  EXPECT_EQ(response.proof(), "");
  EXPECT_EQ(response.total_ms(), 0u);
  result.state = engine::JobState::kCancelled;
  EXPECT_EQ(ToAwaitResponse(result).status(), v1::AwaitProofResponse::CANCELLED);
}

// Curio adds pending and in_progress of all kinds to know whether there is room: each unfinished job counts once.
TEST(ConvertTest, S07_StatusCountsEveryUnfinishedJobOnce) {
  engine::EngineStatus status;
  status.uptime_seconds = 12.9;
  status.budget.limit_bytes = 1000;
  status.kinds[filecoin::Kind::kPorep] = {.pending = 3, .in_progress = 2, .completed_total = 10, .failed_total = 1};
  status.kinds[filecoin::Kind::kSnap] = {.completed_total = 5};
  status.kinds[filecoin::Kind::kWindow] = {};
  status.kinds[filecoin::Kind::kWinning] = {.in_progress = 1};
  engine::DeviceStatus device{.name = "card", .ordinal = 1, .memory = {.total = 80, .free = 30}};
  device.workers = {{.worker = 0}, {.worker = 1, .job_key = 7, .job_id = "j", .kind = filecoin::Kind::kWinning}};
  device.pool.total_bytes = 400;
  status.devices.push_back(device);
  v1::GetStatusResponse response = ToStatusResponse(status);
  ASSERT_EQ(response.queues_size(), 2);
  EXPECT_EQ(response.queues(0).proof_kind(), "porep-c2");
  EXPECT_EQ(response.queues(0).pending(), 3u);
  EXPECT_EQ(response.queues(0).in_progress(), 2u);
  EXPECT_EQ(response.queues(1).proof_kind(), "winning-post");
  EXPECT_EQ(response.total_proofs_completed(), 15u);
  EXPECT_EQ(response.total_proofs_failed(), 1u);
  EXPECT_EQ(response.uptime_seconds(), 12u);
  EXPECT_EQ(response.pinned_memory_bytes(), 400u);
  EXPECT_EQ(response.pinned_memory_limit_bytes(), 1000u);
  ASSERT_EQ(response.gpus_size(), 1);  // a device once, whatever the number of its workers
  EXPECT_EQ(response.gpus(0).ordinal(), 1u);
  EXPECT_EQ(response.gpus(0).vram_free_bytes(), 30u);
  EXPECT_EQ(response.gpus(0).current_job_id(), "j");
  EXPECT_EQ(response.gpus(0).current_proof_kind(), "winning-post");
}

TEST(ConvertTest, ProgressHasNamesAndTellsWhenNothingIsKnown) {
  engine::JobProgress progress{.job_id = "a",
                               .kind = filecoin::Kind::kWindow,
                               .state = engine::JobState::kRunning,
                               .stage = engine::Stage::kWaitingDevice,
                               .partitions_total = 10,
                               .partitions_done = 4,
                               .fraction = 0.5};
  cuzkd::v1::JobProgress message = ToProgressMessage(progress);
  EXPECT_EQ(message.kind(), "window");
  EXPECT_EQ(message.state(), "running");
  EXPECT_EQ(message.stage(), "waiting-device");
  EXPECT_LT(message.seconds_left(), 0);
  progress.seconds_left = 3.5;
  EXPECT_EQ(ToProgressMessage(progress).seconds_left(), 3.5);
  progress.priority = engine::Priority::kCritical;
  progress.age_seconds = 7.5;
  EXPECT_EQ(ToProgressMessage(progress).priority(), 4u);
  EXPECT_EQ(ToProgressMessage(progress).age_seconds(), 7.5);
}

}  // namespace
}  // namespace cuzk::daemon
