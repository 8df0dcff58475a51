// device list, enable, disable: which devices get work.

#include "core/base/log.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/figures.h"
#include "daemon/ctl/output/text_table.h"

namespace cuzk::daemon {
namespace {

void WriteDevice(JsonWriter& json, const cuzkd::v1::DeviceState& device) {
  json.BeginObject()
      .Member("device", device.device())
      .Member("uuid", device.uuid())
      .Member("name", device.name())
      .Member("state", device.state())
      .Member("reason", device.reason())
      .Member("seconds_in_state", device.seconds_in_state())
      .Member("partitions", device.partitions())
      .Member("wrong_proofs", device.wrong_proofs())
      .Member("errors_in_a_row", device.errors_in_a_row())
      .EndObject();
}

StatusOr<ControlExit> RunList(const Session& session) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  cuzkd::v1::ListDevicesResponse response;
  CUZK_RETURN_IF_ERROR(FromDaemon(client.operators->ListDevices(&context, {}, &response)));
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Key("devices").BeginArray();
    for (const cuzkd::v1::DeviceState& device : response.devices()) WriteDevice(json, device);
    PrintLine(json.EndArray().EndObject().text());
    return ControlExit::kOk;
  }
  TextTable table({">DEVICE", "NAME", "UUID", "STATE", ">FOR", ">PARTITIONS", "REASON"});
  for (const cuzkd::v1::DeviceState& device : response.devices()) {
    table.Add({EscapeControl(device.device()), EscapeControl(device.name()), EscapeControl(device.uuid()),
               EscapeControl(device.state()), DurationText(device.seconds_in_state()), StrCat(device.partitions()),
               EscapeControl(device.reason())});
  }
  for (const std::string& line : table.Lines()) PrintLine(line);
  return ControlExit::kOk;
}

/// What the daemon does not do as things are is a refusal, and so is a self-test that was not passed (INTERNAL).
Status AsRefusal(const Status& status) {
  if (!absl::IsFailedPrecondition(status) && !absl::IsInternal(status)) return status;
  return SaidByDaemon(absl::InvalidArgumentError(status.message()));
}

StatusOr<ControlExit> RunSet(const Session& session, const std::string& name, bool enabled) {
  CUZK_ASSIGN_OR_RETURN(Client client, Client::Connect(session));
  grpc::ClientContext context;
  cuzkd::v1::SetDeviceRequest request;
  request.set_device(name);
  request.set_enabled(enabled);
  cuzkd::v1::SetDeviceResponse response;
  CUZK_RETURN_IF_ERROR(AsRefusal(FromDaemon(client.operators->SetDevice(&context, request, &response))));
  if (session.json) {
    JsonWriter json;
    WriteDevice(json, response.device());
    PrintLine(json.text());
  } else {
    PrintLine(StrCat("device ", EscapeControl(response.device().device()), ", ",
                     EscapeControl(response.device().name()), ": ", EscapeControl(response.device().state())));
  }
  return ControlExit::kOk;
}

}  // namespace

void AddDevice(CLI::App& program, Commands& commands) {
  CLI::App* device = program.add_subcommand("device", "List devices, and disable or enable one");
  device->require_subcommand(1);
  CLI::App* list = device->add_subcommand("list", "Show whether each device gets work, and if not, why");
  commands.push_back({list, RunList});
  auto name = std::make_shared<std::string>();
  CLI::App* enable = device->add_subcommand(
      "enable", "Test a device that was taken out of service, and give it work again if it passes");
  enable->add_option("DEVICE", *name, "UUID or number of the card, as device list shows them")->required();
  commands.push_back({enable, [name](const Session& session) { return RunSet(session, *name, true); }});
  CLI::App* disable =
      device->add_subcommand("disable", "Stop giving work to a device; other devices prove its unfinished partitions");
  disable->add_option("DEVICE", *name, "UUID or number of the card, as device list shows them")->required();
  commands.push_back({disable, [name](const Session& session) { return RunSet(session, *name, false); }});
}

}  // namespace cuzk::daemon
