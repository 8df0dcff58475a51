#include "core/base/settings.h"

namespace cuzk {
namespace {

using enum SettingType;

constexpr SettingRow kRows[] = {
    {"listen", kText, "unix:/run/cuzkd/cuzkd.sock", "", "", "", false,
     "Where gRPC is served: unix:PATH, or HOST:PORT. Several are separated by commas."},
    {"listen_mode", kMode, "0660", "", "", "", false, "Permissions of a unix socket, given when it is created."},
    {"legacy_metrics", kBool, "false", "", "", "", false,
     "Also print cuzk_proofs_completed and cuzk_proofs_failed without _total, as an earlier daemon did."},

    {"grpc.max_message", kSize, "512MiB", "", "", "", false,
     "The largest message in either direction. Curio sends up to 256 MiB."},
    {"grpc.max_calls", kInteger, "256", "", "calls", "", false,
     "Calls that one connection may have open at once; each waiting call is one."},
    {"grpc.threads", kInteger, "512", "", "threads", "", false,
     "The most threads that gRPC may use. A call that waits for a proof holds one."},
    {"grpc.ingress_memory", kSize, "auto", "auto", "", "", false,
     "The most memory that gRPC may use for messages that are arriving. It is a part of memory.budget. auto: a quarter "
     "of that, 4GiB at most."},
    {"grpc.allow_plaintext", kBool, "false", "", "", "", false,
     "Serve without encryption on an address that other machines can reach."},
    {"grpc.reflection", kBool, "true", "", "", "", false, "Let tools such as grpcurl ask for the message layout."},
    {"grpc.keepalive", kDuration, "60s", "", "", "", false,
     "A connection on which nothing arrives for so long is asked whether it is alive."},
    {"grpc.keepalive_timeout", kDuration, "20s", "", "", "", false,
     "A connection that does not answer that for so long is closed, and a call whose client does not take for so long "
     "what it is sent is ended."},
    {"grpc.least_ping_interval", kDuration, "10s", "", "", "", false,
     "Clients may ask the same so often, also while no call is open; who asks more often is disconnected."},

    {"tls.certificate", kText, "", "", "", "", true,
     "The certificate chain in PEM, own certificate first. With it every HOST:PORT of listen speaks TLS; unix sockets "
     "do not. SIGHUP reads the files again; to turn TLS on or off needs a restart."},
    {"tls.key", kText, "", "", "", "", true,
     "Its private key in PEM, without a pass phrase. Owned by cuzkd's user and closed to all others, or owned by root "
     "and readable by the group."},
    {"tls.client_ca", kText, "", "", "", "", true,
     "Certificates in PEM of those who sign clients' certificates. With it a client without such a certificate is "
     "refused; empty: clients need none. To turn this on or off needs a restart."},

    {"http.listen", kText, "127.0.0.1:9821", "", "", "", false,
     "Where /metrics, /healthz, /readyz and /status are served over plain HTTP; empty: nowhere."},
    {"http.allow_remote", kBool, "false", "", "", "", false,
     "Serve that on an address that other machines can reach. It is never encrypted, and whoever reaches it may read "
     "it."},

    {"params.directory", kText, "/var/tmp/filecoin-proof-parameters", "", "", "FIL_PROOFS_PARAMETER_CACHE", false,
     "The folder with the .params and .vk files."},
    {"params.allow_development", kBool, "false", "", "", "", false,
     "Accept parameters that `cuzkctl params make` made. Whoever made them can forge proofs that this machine "
     "accepts."},
    {"params.verify", kText, "once", "once|always", "", "", false,
     "When the digest of a parameter file is computed, which happens while it is loaded. once: not again while device, "
     "inode, size and times of the file are the same, also after a restart. always: at every load."},
    {"params.preload", kList, "", "", "", "", false,
     "Circuits whose parameters are loaded at start-up, such as porep-32g."},
    {"params.evict_idle", kDuration, "0s", "", "", "", true,
     "Drop parameters that nobody has used for so long, except those of params.preload; 0s: only when their memory is "
     "needed."},
    {"params.ready_before_preload", kBool, "false", "", "", "", false,
     "Accept jobs while those are being loaded, instead of answering that the daemon is starting."},

    {"devices.use", kText, "auto", "auto|gpu|cpu", "", "BELLMAN_NO_GPU", false,
     "What proves. auto: the NVIDIA cards, and the CPU only where the PCI bus shows no such card. gpu: the cards "
     "alone. cpu: the CPU alone."},
    {"devices.wait", kDuration, "2m", "", "", "", false,
     "How long a start waits for a card that the machine has and the driver does not serve yet; then the daemon ends "
     "with exit code 69. Drivers and fabric managers come up late at boot."},
    {"devices.cards", kList, "", "", "", "", false,
     "The GPUs that prove, by number or UUID as `nvidia-smi -L` shows them; empty: all."},
    {"devices.memory", kSize, "auto", "auto", "", "", false,
     "The most that proving takes of each GPU's memory, for GPUs that do other work too. auto: all that is free."},
    {"devices.workers", kInteger, "2", "", "workers per device", "", false,
     "While one worker computes, another one copies the next partition. On a GPU whose memory does not hold the "
     "parameters, so many partitions share each pass over them: 8 are better there."},

    {"synthesis.threads", kInteger, "0", "", "threads", "", false,
     "Threads that read proofs, write witnesses and, without a GPU, compute. 0: one per core."},
    {"synthesis.partitions", kInteger, "2", "", "partitions", "", false,
     "Partitions whose witness is written at once."},

    {"memory.budget", kSize, "auto", "auto", "", "", false,
     "What requests, witnesses, buffers and parameters may use together. auto: the machine's memory or the control "
     "group's limit, whichever is smaller, less a reserve."},
    {"memory.requests", kSize, "auto", "auto", "", "", false,
     "The most of that for requests, as they came and parsed; more are refused, though one is always let in, and a "
     "WinningPoSt may take an eighth more, or 64MiB if that is more. auto: a quarter."},

    {"jobs.queue", kInteger, "1024", "", "jobs", "", true,
     "Accepted and unfinished jobs; more are refused, but for 16 WinningPoSts beyond them."},
    {"jobs.results", kInteger, "4096", "", "jobs", "", true,
     "Ended jobs whose result is kept. Of more, first those go whose result was fetched, then those without a proof, "
     "then proofs that nobody fetched; each the oldest first."},
    {"jobs.result_age", kDuration, "24h", "", "", "", true, "How long a result is kept."},
    {"jobs.drain", kDuration, "30m", "", "", "", true,
     "How long jobs may go on after SIGTERM. What is left goes on at the next start, or fails where nothing is kept."},
    {"jobs.max_time", kDuration, "0s", "", "", "", true,
     "How long a job may take from its submission; 0s: as long as it needs. For jobs that are accepted from then on."},
    {"jobs.cancel_abandoned", kBool, "false", "", "", "", false,
     "Cancel a job when every caller that waits for it in Prove has gone. Curio's callers come back for the result."},
    {"jobs.state_directory", kText, "/var/lib/cuzkd", "", "", "", false,
     "Where accepted jobs and results that nobody fetched survive a restart; empty: nowhere."},
    {"jobs.stored", kSize, "8GiB", "", "", "", false,
     "The most that unfinished requests may take in that folder. A WinningPoSt may take an eighth more, or 64MiB if "
     "that is more."},
    {"jobs.losses", kInteger, "3", "", "times", "", false,
     "A job that was in work so often when its device was lost or the daemon died fails instead of being tried again; "
     "0: it is always tried again."},

    {"log.level", kText, "info", "debug|info|warning|error", "", "RUST_LOG", true,
     "The least important kind of message that is written."},
    {"log.format", kText, "text", "text|json", "", "", false,
     "Lines for people, or one JSON object per line, on stderr."},
};

}  // namespace

std::span<const SettingRow> SettingTable() { return kRows; }

}  // namespace cuzk
