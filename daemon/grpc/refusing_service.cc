#include "daemon/grpc/refusing_service.h"

#include <utility>

#include "core/base/status.h"
#include "daemon/common/convert.h"

namespace cuzk::daemon {
namespace {

/// One call, which ends at once. gRPC calls OnDone last.
class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const std::string& why) { Finish(ToGrpc(absl::UnavailableError(why))); }
  void OnDone() override { delete this; }
};

}  // namespace

RefusingService::RefusingService(std::function<std::string()> why) : why_(std::move(why)) {}

grpc::ServerGenericBidiReactor* RefusingService::CreateReactor(grpc::GenericCallbackServerContext*) {
  return new Refusal(why_());
}

}  // namespace cuzk::daemon
