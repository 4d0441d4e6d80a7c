import BinderDaemon
import Glibc

// A daemon of another name than binderd, for the tests.
exit(runProgram(Program("otherd")))
