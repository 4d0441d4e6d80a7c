internal import Glibc
internal import HistoryChecker

exit(Soak.run(CommandLine.arguments))
