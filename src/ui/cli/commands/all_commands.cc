#include "ui/cli/commands/all_commands.h"

#include "ui/cli/commands/attn_command.h"
#include "ui/cli/commands/serve_command.h"
#include "ui/cli/commands/upkeep_commands.h"

namespace trainwarden::cli {

void add_all_commands(CLI::App& app, CommandAction& action) {
  add_demo(app, action);
  add_run(app, action);
  add_sample(app, action);
  add_mirror(app, action);
  add_capture(app, action);
  add_profile(app, action);
  add_submit(app, action);
  add_job(app, action);
  add_tune(app, action);
  add_stop(app, action);
  add_save(app, action);
  add_serve(app, action);
  add_ls(app, action);
  add_show(app, action);
  add_describe(app, action);
  add_top(app, action);
  add_report(app, action);
  add_diagnose(app, action);
  add_phases(app, action);
  add_system(app, action);
  add_plot(app, action);
  add_tensors(app, action);
  add_steps(app, action);
  add_value(app, action);
  add_cat(app, action);
  add_tail(app, action);
  add_attn(app, action);
  add_rules(app, action);
  add_check(app, action);
  add_watch(app, action);
  add_events(app, action);
  add_actions(app, action);
  add_metrics(app, action);
  add_operators(app, action);
  add_experiment(app, action);
  add_study(app, action);
  add_lineage(app, action);
  add_export(app, action);
  add_import(app, action);
  add_cp(app, action);
  add_sync(app, action);
  add_catalogue(app, action);
  add_gc(app, action);
  add_doctor(app, action);
  add_verify(app, action);
  add_du(app, action);
  add_recover(app, action);
  add_merge(app, action);
  add_diff(app, action);
  add_completion(app, action);
  add_rule_host(app, action);
}

}  // namespace trainwarden::cli
