#include "core/base/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "core/base/check.h"
#include "core/base/mutex.h"

namespace cuzk {
namespace {

const MetricRow& Row(MetricId id, MetricType type) {
  const MetricRow& row = MetricTable()[static_cast<size_t>(id)];
  CUZK_CHECK(row.type == type);
  return row;
}

prometheus::Labels LabelsOf(const MetricRow& row, Metrics::Labels values) {
  prometheus::Labels labels;
  std::string_view names = row.labels;
  for (std::string_view value : values) {
    CUZK_CHECK(!names.empty());
    size_t comma = names.find(',');
    labels.emplace(names.substr(0, comma), value);
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  CUZK_CHECK(names.empty());
  return labels;
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  std::map<MetricId, prometheus::Family<prometheus::Counter>*> counters;
  std::map<MetricId, prometheus::Family<prometheus::Gauge>*> gauges;
  std::map<MetricId, prometheus::Family<prometheus::Histogram>*> histograms;
  Mutex mutex;  // makes read-then-raise, and setting all children, one step
  std::map<MetricId, std::map<std::string, prometheus::Gauge*>> children ABSL_GUARDED_BY(mutex);  // by label

  prometheus::Counter& counter(MetricId id, Labels labels) {
    prometheus::Labels values = LabelsOf(Row(id, MetricType::kCounter), labels);
    return counters.at(id)->Add(values);
  }
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  for (const MetricRow& row : MetricTable()) {
    std::string name(row.name), help(row.help);
    switch (row.type) {
      case MetricType::kCounter:
        families_->counters[row.id] = &prometheus::BuildCounter().Name(name).Help(help).Register(families_->registry);
        break;
      case MetricType::kGauge:
        families_->gauges[row.id] = &prometheus::BuildGauge().Name(name).Help(help).Register(families_->registry);
        break;
      case MetricType::kHistogram:
        families_->histograms[row.id] =
            &prometheus::BuildHistogram().Name(name).Help(help).Register(families_->registry);
        break;
    }
  }
}

Metrics::~Metrics() = default;

void Metrics::Increment(MetricId id, Labels labels, double by) { families_->counter(id, labels).Increment(by); }

void Metrics::RaiseTo(MetricId id, Labels labels, double total) {
  MutexLock lock(families_->mutex);
  prometheus::Counter& counter = families_->counter(id, labels);
  double missing = total - counter.Value();
  if (missing > 0) counter.Increment(missing);
}

void Metrics::Set(MetricId id, Labels labels, double value) {
  prometheus::Labels values = LabelsOf(Row(id, MetricType::kGauge), labels);
  families_->gauges.at(id)->Add(values).Set(value);
}

void Metrics::Observe(MetricId id, Labels labels, double value) {
  const MetricRow& row = Row(id, MetricType::kHistogram);
  auto of_label = [&](const BucketRow& bucket) {
    return bucket.label.empty() || (labels.size() > 0 && *labels.begin() == bucket.label);
  };
  auto found = std::find_if(row.buckets.begin(), row.buckets.end(), of_label);
  CUZK_CHECK(found != row.buckets.end());
  prometheus::Histogram::BucketBoundaries bounds(found->bounds.begin(), found->bounds.end());
  prometheus::Labels values = LabelsOf(row, labels);
  families_->histograms.at(id)->Add(values, bounds).Observe(value);
}

void Metrics::SetAll(MetricId id, const std::map<std::string, double>& values) {
  const MetricRow& row = Row(id, MetricType::kGauge);
  prometheus::Family<prometheus::Gauge>* family = families_->gauges.at(id);
  MutexLock lock(families_->mutex);
  std::map<std::string, prometheus::Gauge*>& children = families_->children[id];
  for (auto it = children.begin(); it != children.end();) {
    if (values.contains(it->first)) {
      ++it;
      continue;
    }
    family->Remove(it->second);
    it = children.erase(it);
  }
  for (const auto& [label, value] : values) {
    prometheus::Gauge*& child = children[label];
    if (child == nullptr) child = &family->Add(LabelsOf(row, {label}));
    child->Set(value);
  }
}

std::string Metrics::Text() const { return prometheus::TextSerializer().Serialize(families_->registry.Collect()); }

void UpdateProcessMetrics(Metrics& metrics) {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream stat("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
  size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return;
  // Fields of proc(5) from the third on, which follows the parenthesised name.
  std::istringstream in(text.substr(name_end + 2));
  std::vector<std::string> fields{"", "", ""};
  for (std::string field; in >> field;) fields.push_back(field);
  if (fields.size() < 25) return;
  auto number = [&](size_t i) { return std::strtod(fields[i].c_str(), nullptr); };
  metrics.RaiseTo(MetricId::kProcessCpu, {}, (number(14) + number(15)) / ticks);
  metrics.Set(MetricId::kProcessThreads, {}, number(20));
  metrics.Set(MetricId::kProcessVirtual, {}, number(23));
  metrics.Set(MetricId::kProcessResident, {}, number(24) * static_cast<double>(sysconf(_SC_PAGESIZE)));

  std::ifstream system("/proc/stat");
  for (std::string word; system >> word;) {
    double boot = 0;
    if (word == "btime" && system >> boot) metrics.Set(MetricId::kProcessStartTime, {}, boot + number(22) / ticks);
  }
  std::error_code error;
  double open = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", error); !error && it != end(it);
       it.increment(error))
    ++open;
  if (!error) metrics.Set(MetricId::kProcessOpenFds, {}, open);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    metrics.Set(MetricId::kProcessMaxFds, {}, static_cast<double>(limit.rlim_cur));
}

}  // namespace cuzk
