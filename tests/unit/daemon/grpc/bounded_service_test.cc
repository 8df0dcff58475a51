#include "daemon/grpc/internal/bounded_service.h"

#include <gmock/gmock.h>

#include <string>

#include "core/filecoin/types/registry.h"
#include "cuzk/v1/proving.pb.h"

namespace cuzk::daemon {
namespace {

grpc::ByteBuffer Bytes(const std::string& text) {
  grpc::Slice slice(text);
  return {&slice, 1};
}

template <class Message>
grpc::Status Parse(const std::string& text, Bounded<Message>& out) {
  grpc::ByteBuffer bytes = Bytes(text);
  return grpc::SerializationTraits<Bounded<Message>>::Deserialize(&bytes, &out);
}

template <class Message>
grpc::StatusCode CodeOf(const std::string& text) {
  Bounded<Message> out;
  return Parse(text, out).error_code();
}

std::string Repeat(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all.append(text);
  return all;
}

TEST(BoundedServiceTest, TheLargestRequestPassesAsItIs) {
  v1::ProveRequest request;
  v1::SubmitProofRequest& submit = *request.mutable_submit();
  submit.set_request_id("a");
  submit.set_miner_id(1000);
  submit.set_vanilla_proof(std::string(1 << 20, 'x'));
  submit.set_randomness(std::string(32, '\x0b'));
  for (uint32_t i = 0; i < filecoin::MostVanillaProofs(); ++i) submit.add_vanilla_proofs(std::string({0x5a, 0, 0x5a}));
  Bounded<v1::ProveRequest> got;
  EXPECT_EQ(Parse(request.SerializeAsString(), got).error_message(), "");
  EXPECT_TRUE(got.message.SerializeAsString() == request.SerializeAsString());
  Bounded<v1::SubmitProofRequest> inner;
  EXPECT_EQ(Parse(submit.SerializeAsString(), inner).error_message(), "");
  EXPECT_TRUE(inner.message.SerializeAsString() == submit.SerializeAsString());
}

TEST(BoundedServiceTest, ManySmallFieldsAreRefusedWhereverTheyAre) {
  constexpr size_t kMany = 10'000;
  v1::SubmitProofRequest items;
  for (size_t i = 0; i < kMany; ++i) items.add_vanilla_proofs();
  v1::ProveRequest prove;
  *prove.mutable_submit() = items;
  EXPECT_EQ(CodeOf<v1::SubmitProofRequest>(items.SerializeAsString()), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf<v1::ProveRequest>(prove.SerializeAsString()), grpc::StatusCode::INVALID_ARGUMENT);
  // What the messages do not know: numbers, and groups in groups.
  constexpr std::string_view number("\xa0\x06\x01", 3), group("\xa3\x06\xa4\x06", 4);
  EXPECT_EQ(CodeOf<v1::GetStatusRequest>(Repeat(number, kMany)), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf<v1::GetStatusRequest>(Repeat(group, kMany)), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf<v1::GetStatusRequest>(Repeat(number, 60)), grpc::StatusCode::OK);
  // A request that is given again and again is put together from its parts.
  EXPECT_EQ(CodeOf<v1::ProveRequest>(Repeat(std::string_view("\x0a\x00", 2), kMany)),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(BoundedServiceTest, BrokenMessagesAreTheParsersToRefuse) {
  for (const std::string& text : {std::string("\x5a\x05x"), std::string("\xff\xff\xff"), std::string("\x0f"),
                                  std::string("\x5a\xff\xff\xff\xff\xff")}) {
    EXPECT_EQ(CodeOf<v1::SubmitProofRequest>(text), grpc::StatusCode::INTERNAL) << text.size();
  }
  EXPECT_EQ(CodeOf<v1::SubmitProofRequest>(""), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace cuzk::daemon
