#include "daemon/grpc/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <utility>

#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

namespace v1 = grpc::reflection::v1;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;

void NotFound(v1::ServerReflectionResponse& answer, std::string text) {
  answer.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  answer.mutable_error_response()->set_error_message(std::move(text));
}

/// Files before those that import them come later: a reader of the answer needs no order.
void AddFile(const FileDescriptor& file, std::set<std::string>& added, v1::FileDescriptorResponse& answer) {
  if (!added.insert(file.name()).second) return;
  google::protobuf::FileDescriptorProto message;
  file.CopyTo(&message);
  answer.add_file_descriptor_proto(message.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, answer);
}

void AnswerFile(const FileDescriptor* file, const std::string& asked, v1::ServerReflectionResponse& answer) {
  if (file == nullptr) return NotFound(answer, StrCat(asked, " is not known"));
  std::set<std::string> added;
  AddFile(*file, added, *answer.mutable_file_descriptor_response());
}

void AnswerExtension(const v1::ExtensionRequest& asked, v1::ServerReflectionResponse& answer) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const google::protobuf::Descriptor* type = pool.FindMessageTypeByName(asked.containing_type());
  const google::protobuf::FieldDescriptor* extension =
      type == nullptr ? nullptr : pool.FindExtensionByNumber(type, asked.extension_number());
  AnswerFile(extension == nullptr ? nullptr : extension->file(),
             StrCat("extension ", asked.extension_number(), " of ", asked.containing_type()), answer);
}

void AnswerExtensionNumbers(const std::string& name, v1::ServerReflectionResponse& answer) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const google::protobuf::Descriptor* type = pool.FindMessageTypeByName(name);
  if (type == nullptr) return NotFound(answer, StrCat(name, " is not known"));
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  pool.FindAllExtensions(type, &extensions);
  answer.mutable_all_extension_numbers_response()->set_base_type_name(name);
  for (const auto* extension : extensions) {
    answer.mutable_all_extension_numbers_response()->add_extension_number(extension->number());
  }
}

}  // namespace

v1::ServerReflectionResponse ReflectionService::Answer(const v1::ServerReflectionRequest& request) const {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  v1::ServerReflectionResponse answer;
  answer.set_valid_host(request.host());
  *answer.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case v1::ServerReflectionRequest::kFileByFilename:
      AnswerFile(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(), answer);
      break;
    case v1::ServerReflectionRequest::kFileContainingSymbol:
      AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()), request.file_containing_symbol(),
                 answer);
      break;
    case v1::ServerReflectionRequest::kFileContainingExtension:
      AnswerExtension(request.file_containing_extension(), answer);
      break;
    case v1::ServerReflectionRequest::kAllExtensionNumbersOfType:
      AnswerExtensionNumbers(request.all_extension_numbers_of_type(), answer);
      break;
    case v1::ServerReflectionRequest::kListServices:
      for (const std::string& name : services_) answer.mutable_list_services_response()->add_service()->set_name(name);
      break;
    case v1::ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      answer.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
      answer.mutable_error_response()->set_error_message("the request asks for nothing that is known here");
      break;
  }
  return answer;
}

grpc::Status ReflectionService::ServerReflectionInfo(
    grpc::ServerContext*, grpc::ServerReaderWriter<v1::ServerReflectionResponse, v1::ServerReflectionRequest>* stream) {
  v1::ServerReflectionRequest request;
  while (stream->Read(&request)) {
    if (!stream->Write(Answer(request))) break;  // the client has gone
  }
  return grpc::Status::OK;
}

}  // namespace cuzk::daemon
