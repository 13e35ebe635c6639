// Prepared: an action that is ready sooner when it knows before the first event that there will be some.
#pragma once

namespace trainwarden::actions {

class Prepared {
 public:
  virtual ~Prepared() = default;
  // In the thread that run() is called in. What goes wrong is returned by run().
  virtual void prepare() = 0;
};

}  // namespace trainwarden::actions
