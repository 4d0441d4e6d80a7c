import BinderDaemon
import Glibc

#if Apps
  import Apps
  import Connections

  private let program = Program(
    "binderd", directory: "binder", items: [.login], summaries: chatSummaries,
    features: applications)
#else
  private let program = Program("binderd", directory: "binder")
#endif

exit(runProgram(program))
