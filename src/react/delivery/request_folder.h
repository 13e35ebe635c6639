// RequestFolder: the requests about dead letters that others have put into the run's control folder, each read once.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/format/delivery_request.h"
#include "store/storage/storage.h"

namespace trainwarden::delivery {

// One thread at a time.
class RequestFolder {
 public:
  struct Found {
    format::DeliveryRequest request;
    bool old = false;  // it was there at the first look: somebody else may have carried it out
  };

  // No storage: nobody can ask. Requests that are meant for another run than `run_id` are passed over.
  RequestFolder(const storage::Storage* storage, std::string run_id) : storage_(storage), run_id_(std::move(run_id)) {}

  // Those that were not there at the last call, in the order of their time. What cannot be understood is logged once.
  std::vector<Found> look();

 private:
  void read(const std::string& file, bool old, std::vector<Found>& found);

  const storage::Storage* storage_;
  const std::string run_id_;
  bool looked_ = false;
  std::set<std::string> seen_;  // files
  std::set<std::string> old_;
};

}  // namespace trainwarden::delivery
