// The environment variables of Trainwarden: each name once, with who sets it, who reads it, and the form of its value.
// scripts/check_environment_names.py finds names that are written elsewhere, and names that users may set and no page
// of docs names. The adapters may not include this header; the same check compares the names that they use.
#pragma once

namespace trainwarden::variable {

// == Users set these.

// What is captured. The hook reads them (docs/reference/config.md); `run` and `demo` set those that have an option.
inline constexpr const char* kSwitch = "TRAINWARDEN";           // 0: no hook captures anything
inline constexpr const char* kRunDir = "TRAINWARDEN_RUN_DIR";   // a folder; `run` always sets it
inline constexpr const char* kConfig = "TRAINWARDEN_CONFIG";    // a file: our JSON or smdebug's
inline constexpr const char* kBudget = "TRAINWARDEN_BUDGET";    // a share of time: "1%" or "0.01"
inline constexpr const char* kInclude = "TRAINWARDEN_INCLUDE";  // a regular expression of names
inline constexpr const char* kIncludeCollections = "TRAINWARDEN_INCLUDE_COLLECTIONS";  // names with commas
inline constexpr const char* kSaveInterval = "TRAINWARDEN_SAVE_INTERVAL";              // a number of steps
inline constexpr const char* kSaveAll = "TRAINWARDEN_SAVE_ALL";                        // a switch: 0 or 1
inline constexpr const char* kKeep = "TRAINWARDEN_KEEP";                               // keep forms with commas
inline constexpr const char* kIncludeWorkers = "TRAINWARDEN_INCLUDE_WORKERS";          // one or all
inline constexpr const char* kRank = "TRAINWARDEN_RANK";             // a number; launchers' own names come after it
inline constexpr const char* kWorldSize = "TRAINWARDEN_WORLD_SIZE";  // a number
inline constexpr const char* kLabels = "TRAINWARDEN_LABELS";         // a JSON object of texts; `run --label` adds
inline constexpr const char* kTensorboardDir = "TRAINWARDEN_TENSORBOARD_DIR";  // a folder
inline constexpr const char* kStagingBytes = "TRAINWARDEN_STAGING_BYTES";      // "64MiB"
inline constexpr const char* kSegmentBytes = "TRAINWARDEN_SEGMENT_BYTES";      // "64MiB"
inline constexpr const char* kCompress = "TRAINWARDEN_COMPRESS";               // 1 or 0
inline constexpr const char* kMaxRunBytes = "TRAINWARDEN_MAX_RUN_BYTES";       // "20GB"
inline constexpr const char* kMinFreeBytes = "TRAINWARDEN_MIN_FREE_BYTES";     // "1GiB"
inline constexpr const char* kWhenFull = "TRAINWARDEN_WHEN_FULL";              // what happens to what does not fit
inline constexpr const char* kDurability = "TRAINWARDEN_DURABILITY";           // when the disk is waited for
inline constexpr const char* kBlackBox = "TRAINWARDEN_BLACK_BOX";  // a number of steps; `run` sets it with rules
inline constexpr const char* kProfileSteps = "TRAINWARDEN_PROFILE_STEPS";         // "5:15", "auto"; `run` sets it
inline constexpr const char* kPythonStacks = "TRAINWARDEN_PYTHON_STACKS";         // samples a second; a switch
inline constexpr const char* kBlackBoxBytes = "TRAINWARDEN_BLACK_BOX_BYTES";      // "256MiB"
inline constexpr const char* kBlackBoxSampled = "TRAINWARDEN_BLACK_BOX_SAMPLED";  // a switch; `run` sets it with rules
inline constexpr const char* kCheckpointOnRequest = "TRAINWARDEN_CHECKPOINT_ON_REQUEST";  // a switch
inline constexpr const char* kDryRun = "TRAINWARDEN_DRY_RUN";                             // a switch
inline constexpr const char* kCodeVersion = "TRAINWARDEN_CODE_VERSION";                   // a text

// Rules that judge inside the program. The guard reads them; `run` sets them when rules judge inside.
inline constexpr const char* kGuardRules = "TRAINWARDEN_GUARD_RULES";  // specs of rules, one a line
inline constexpr const char* kOnFire = "TRAINWARDEN_ON_FIRE";          // report, stop or skip-step
inline constexpr const char* kMute = "TRAINWARDEN_MUTE";               // keys of verdicts, one a line

// Any of our programs and libraries reads these.
inline constexpr const char* kBuckets = "TRAINWARDEN_BUCKETS";          // a folder with a folder for each bucket
inline constexpr const char* kRuns = "TRAINWARDEN_RUNS";                // the folder of runs; the command line
inline constexpr const char* kJobs = "TRAINWARDEN_JOBS";                // the folder of jobs; the command line
inline constexpr const char* kSshHosts = "TRAINWARDEN_SSH_HOSTS";       // hosts with commas; `submit --backend ssh`
inline constexpr const char* kExperiments = "TRAINWARDEN_EXPERIMENTS";  // the folder of experiments; the command line
inline constexpr const char* kStudies = "TRAINWARDEN_STUDIES";          // the folder of studies; the command line
inline constexpr const char* kCatalogue = "TRAINWARDEN_CATALOGUE";      // the folder of the catalogue; the command line
inline constexpr const char* kReadBudget = "TRAINWARDEN_READ_BUDGET";   // a factor of all limits of readers
inline constexpr const char* kLogLevel = "TRAINWARDEN_LOG_LEVEL";       // debug, info, warning, error, off
inline constexpr const char* kStrict = "TRAINWARDEN_STRICT";  // a switch: an error that is logged aborts; for tests
inline constexpr const char* kSecretPatterns = "TRAINWARDEN_SECRET_PATTERNS";  // a file of patterns
inline constexpr const char* kNvrtc = "TRAINWARDEN_NVRTC";                     // the path of the compiler of kernels

// Programs and libraries of ours in unusual places.
inline constexpr const char* kProgram = "TRAINWARDEN_PROGRAM";                 // `trainwarden`; who hosts rules
inline constexpr const char* kPython = "TRAINWARDEN_PYTHON";                   // Python with the package; the same
inline constexpr const char* kPreloadLibrary = "TRAINWARDEN_PRELOAD_LIBRARY";  // `run --attach preload`
inline constexpr const char* kAttachLibrary = "TRAINWARDEN_ATTACH_LIBRARY";    // the preload library reads it
inline constexpr const char* kDemoProgram = "TRAINWARDEN_DEMO_PROGRAM";        // `demo`

// The mail server, for the action `mail`; what its parameters do not say. The adapter of smdebug reads those of the
// action `sms`.
inline constexpr const char* kSmtpHost = "TRAINWARDEN_SMTP_HOST";
inline constexpr const char* kSmtpPort = "TRAINWARDEN_SMTP_PORT";          // a number
inline constexpr const char* kSmtpSecurity = "TRAINWARDEN_SMTP_SECURITY";  // starttls, tls or none
inline constexpr const char* kSmtpUser = "TRAINWARDEN_SMTP_USER";
inline constexpr const char* kSmtpPassword = "TRAINWARDEN_SMTP_PASSWORD";
inline constexpr const char* kSmtpPasswordFile = "TRAINWARDEN_SMTP_PASSWORD_FILE";  // a path
inline constexpr const char* kSmtpFrom = "TRAINWARDEN_SMTP_FROM";                   // an address
// and URL, PASSWORD, TOKEN, USER, ...: parameters of `sms`
inline constexpr const char* kSmsPrefix = "TRAINWARDEN_SMS_";

// Buckets of S3, as AWS's tools have them (src/store/s3/s3_settings.h, credentials.h).
inline constexpr const char* kUnsigned = "TRAINWARDEN_UNSIGNED";         // a switch: requests are not signed
inline constexpr const char* kGsKeyId = "TRAINWARDEN_GS_ACCESS_KEY_ID";  // and of Google's: google_buckets.h
inline constexpr const char* kGsSecret = "TRAINWARDEN_GS_SECRET_ACCESS_KEY";
inline constexpr const char* kGsEndpoint = "TRAINWARDEN_GS_ENDPOINT_URL";
inline constexpr const char* kAwsKeyId = "AWS_ACCESS_KEY_ID";
inline constexpr const char* kAwsSecret = "AWS_SECRET_ACCESS_KEY";
inline constexpr const char* kAwsSessionToken = "AWS_SESSION_TOKEN";
inline constexpr const char* kAwsProfile = "AWS_PROFILE";
inline constexpr const char* kAwsCredentialsFile = "AWS_SHARED_CREDENTIALS_FILE";  // a path
inline constexpr const char* kAwsConfigFile = "AWS_CONFIG_FILE";                   // a path
inline constexpr const char* kAwsRegion = "AWS_REGION";
inline constexpr const char* kAwsDefaultRegion = "AWS_DEFAULT_REGION";
inline constexpr const char* kAwsS3Endpoint = "AWS_ENDPOINT_URL_S3";
inline constexpr const char* kAwsEndpoint = "AWS_ENDPOINT_URL";
inline constexpr const char* kAwsCaBundle = "AWS_CA_BUNDLE";        // a path
inline constexpr const char* kAwsMaxAttempts = "AWS_MAX_ATTEMPTS";  // a number
inline constexpr const char* kAwsStsEndpoint = "AWS_ENDPOINT_URL_STS";
inline constexpr const char* kAwsWebIdentityTokenFile = "AWS_WEB_IDENTITY_TOKEN_FILE";  // a path
inline constexpr const char* kAwsRoleArn = "AWS_ROLE_ARN";
inline constexpr const char* kAwsRoleSessionName = "AWS_ROLE_SESSION_NAME";
inline constexpr const char* kAwsContainerRelativeUri = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
inline constexpr const char* kAwsContainerFullUri = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
inline constexpr const char* kAwsContainerToken = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
inline constexpr const char* kAwsContainerTokenFile = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
inline constexpr const char* kAwsNoMetadata = "AWS_EC2_METADATA_DISABLED";  // a switch
inline constexpr const char* kAwsMetadataEndpoint = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

// A program that an action starts finds these in its environment (docs/reference/builtin-actions.md, "exec").
inline constexpr const char* kRun = "TRAINWARDEN_RUN";                   // the run's name
inline constexpr const char* kRunPath = "TRAINWARDEN_RUN_PATH";          // its folder
inline constexpr const char* kEventId = "TRAINWARDEN_EVENT_ID";          // of the CloudEvent
inline constexpr const char* kEventKey = "TRAINWARDEN_EVENT_KEY";        // the same for each attempt
inline constexpr const char* kEventType = "TRAINWARDEN_EVENT_TYPE";      // of the CloudEvent
inline constexpr const char* kRule = "TRAINWARDEN_RULE";                 // its id; empty: of no rule
inline constexpr const char* kStep = "TRAINWARDEN_STEP";                 // the global step; empty: of none
inline constexpr const char* kAttempt = "TRAINWARDEN_ATTEMPT";           // 1, 2, ...
inline constexpr const char* kHandlerKept = "TRAINWARDEN_HANDLER_KEPT";  // 1: it is asked again and again

// The program of a job finds these in its environment.
inline constexpr const char* kJobName = "TRAINWARDEN_JOB";     // the job's name
inline constexpr const char* kJobDir = "TRAINWARDEN_JOB_DIR";  // its folder, whole; by it a job's processes are known
inline constexpr const char* kJobAttempt = "TRAINWARDEN_JOB_ATTEMPT";        // 1, 2, ...
inline constexpr const char* kCheckpointDir = "TRAINWARDEN_CHECKPOINT_DIR";  // a folder; so for both of these
inline constexpr const char* kModelDir = "TRAINWARDEN_MODEL_DIR";
inline constexpr const char* kOutputDir = "TRAINWARDEN_OUTPUT_DIR";

// When its job belongs to an experiment, TRAINWARDEN_EXPERIMENTS and:
inline constexpr const char* kComponent = "TRAINWARDEN_COMPONENT";  // the component that its job is

// Of trainings in PyTorch. 0: they are not examined for a diagnosis (docs/guide/diagnose.md).
inline constexpr const char* kExamine = "TRAINWARDEN_EXAMINE";

// Of trainings in TensorFlow whose whole loop is compiled: of how many steps of a call something is kept.
inline constexpr const char* kLoopSteps = "TRAINWARDEN_LOOP_STEPS";  // a number; on, off

// == We set these for programs that we start; users need not know them.

inline constexpr const char* kAttach = "TRAINWARDEN_ATTACH";    // 1: watch a program without a hook, 0: leave it alone
inline constexpr const char* kNeeds = "TRAINWARDEN_NEEDS";      // `run` to the hook: a JSON list of what rules need
inline constexpr const char* kResume = "TRAINWARDEN_RESUME";    // 1: the hook goes on with a run that has ended
inline constexpr const char* kWatcher = "TRAINWARDEN_WATCHER";  // `run` to the hook: the process id of who judges

}  // namespace trainwarden::variable
