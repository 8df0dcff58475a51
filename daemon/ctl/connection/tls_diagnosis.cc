#include "daemon/ctl/connection/tls_diagnosis.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <memory>

#include "core/base/text.h"
#include "daemon/sockets/openssl_objects.h"

namespace cuzk::daemon {
namespace {

constexpr int kPatience = 3;  // seconds

using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Freer<SSL_free>>;

// What ReadClientTls accepted.
Context ContextFor(const ClientTlsMaterial& material) {
  Context context(SSL_CTX_new(TLS_client_method()));
  Bio authorities = Reader(material.authority);
  while (Certificate next{PEM_read_bio_X509(authorities.get(), nullptr, nullptr, nullptr)}) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), next.get());
  }
  Bio chain = Reader(material.certificate);
  for (bool own = true; Certificate next{PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)}; own = false) {
    own ? SSL_CTX_use_certificate(context.get(), next.get()) : SSL_CTX_add1_chain_cert(context.get(), next.get());
  }
  Key key(PEM_read_bio_PrivateKey(Reader(material.key).get(), nullptr, nullptr, nullptr));
  if (key) SSL_CTX_use_PrivateKey(context.get(), key.get());
  ERR_clear_error();  // each ends with the lack of a further one
  return context;
}

// A connected socket whose operations wait for kPatience at most; null if no process listens.
Bio Connect(const Address& address) {
  Bio bio(BIO_new_connect(address.Target().c_str()));
  if (!bio || BIO_do_connect_retry(bio.get(), kPatience, -1) != 1) return nullptr;
  const int socket = static_cast<int>(BIO_get_fd(bio.get(), nullptr));
  BIO_socket_nbio(socket, 0);
  const timeval patience{kPatience, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return bio;
}

void Expect(SSL* connection, const std::string& name) {
  X509_VERIFY_PARAM* expected = SSL_get0_param(connection);
  in6_addr ignored;
  if (inet_pton(AF_INET, name.c_str(), &ignored) == 1 || inet_pton(AF_INET6, name.c_str(), &ignored) == 1) {
    X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str());
    return;
  }
  X509_VERIFY_PARAM_set1_host(expected, name.c_str(), name.size());
  SSL_set_tlsext_host_name(connection, name.c_str());
}

std::string LastError() {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(error);
  ERR_clear_error();
  if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING || reason == nullptr)
    return "it closed the connection";
  std::string text = reason;
  // Such as "tlsv13 alert certificate required".
  if (size_t alert = text.find("alert "); alert != text.npos) return StrCat("it answered: ", text.substr(alert + 6));
  return text;
}

// Whether the first thing that the daemon sends is a SETTINGS frame of HTTP/2, as it is without TLS. A plaintext server
// may close the connection at a ClientHello before its own bytes arrive, so the failed handshake alone does not show
// it.
bool SpeaksPlaintext(const Address& address) {
  constexpr unsigned char kSettings = 4;
  Bio socket = Connect(address);
  unsigned char head[9] = {};
  return socket && BIO_read(socket.get(), head, sizeof head) == sizeof head && head[3] == kSettings;
}

std::string CertificateTrouble(SSL* connection, const std::string& name) {
  const long found = SSL_get_verify_result(connection);
  if (found == X509_V_OK) return "";
  Certificate shown(SSL_get1_peer_certificate(connection));
  char subject[256] = "";
  if (shown) X509_NAME_oneline(X509_get_subject_name(shown.get()), subject, sizeof subject);
  std::string text = StrCat("the daemon's certificate (", subject, "): ", X509_verify_cert_error_string(found));
  if (found == X509_V_ERR_HOSTNAME_MISMATCH || found == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    text += StrCat("; it was not issued for ", name, " (--tls-server-name)");
  }
  return text;
}

}  // namespace

std::string WhyNoTls(const Address& address, const ClientTlsMaterial& material, const std::string& name) {
  Bio socket = Connect(address);
  if (!socket) return "";
  Context context = ContextFor(material);
  Connection connection(SSL_new(context.get()));
  const std::string expected = name.empty() ? address.host : name;
  Expect(connection.get(), expected);
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_set_alpn_protos(connection.get(), kHttp2, sizeof kHttp2);
  SSL_set_bio(connection.get(), socket.get(), socket.get());
  (void)socket.release();  // the connection's from here on
  if (SSL_connect(connection.get()) != 1) {
    const bool other = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER;
    const std::string said = LastError();
    return other || SpeaksPlaintext(address) ? "the daemon does not use TLS at this address (leave out --tls-ca)"
                                             : StrCat("the TLS handshake with the daemon failed: ", said);
  }
  std::string trouble = CertificateTrouble(connection.get(), expected);
  if (!trouble.empty()) return trouble;
  // Whether it takes our certificate shows when it says the first word of HTTP/2, or does not.
  char byte;
  if (SSL_read(connection.get(), &byte, 1) == 1) return "";
  return StrCat("the daemon closed the connection (", LastError(), "): ",
                material.certificate.empty() ? "does it require a client certificate (--tls-cert, --tls-key)?"
                                             : "was --tls-cert signed by an authority in its tls.client_ca?");
}

}  // namespace cuzk::daemon
