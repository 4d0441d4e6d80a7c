// The service of the system and that of a user, with their sandboxes.
extension UnitFile {
  var systemService: String {
    """
    [Unit]
    Description=\(title) daemon
    \(serviceBegin("systemctl"))

    User=\(directory)
    Group=\(directory)
    UMask=0077
    # /etc/\(directory)/\(directory).conf; read-only for the daemon.
    ConfigurationDirectory=\(directory)
    ConfigurationDirectoryMode=0755
    # The journal: /var/lib/\(directory)/journal.db
    StateDirectory=\(directory)
    StateDirectoryMode=0700
    LimitNOFILE=65536
    # systemd holds the sockets of the clients while the daemon is restarted, or has died: 10000 connections, the default limit,
    # and some for the daemon itself. The daemon must know the number, which systemd before version 254 does not tell it.
    FileDescriptorStoreMax=10064
    Environment=FDSTORE=10064
    TasksMax=64
    MemoryHigh=1G
    MemoryMax=2G

    \(Self.systemSandbox)
    # Not ProcSubset=pid: the service `system` reads /proc/stat, meminfo, loadavg and uptime.
    \(Self.kernelSandbox)
    # Not PrivateUsers=yes: it would make every peer but root uid 65534.

    # No network: clients use the socket. Services such as feeds and web search need network access; the drop-in
    # drop-ins/network.conf, installed in share/doc/binderd, gives it.
    PrivateNetwork=yes
    RestrictAddressFamilies=AF_UNIX
    IPAddressDeny=any
    SocketBindDeny=any

    \(serviceEnd("multi-user.target"))
    """
  }

  var userService: String {
    """
    [Unit]
    Description=\(title) daemon of this user
    \(serviceBegin("systemctl --user"))

    # The journal: $XDG_STATE_HOME/\(directory)/journal.db, ~/.local/state by default. Not StateDirectory=: before
    # systemd 254 that is ~/.config.
    UMask=0077
    LimitNOFILE=65536
    # The user's service manager holds the sockets of this many clients while the daemon is restarted, or has died. The daemon must
    # know the number, which systemd before version 254 does not tell it.
    FileDescriptorStoreMax=512
    Environment=FDSTORE=512

    # A user's service manager needs user namespaces for most of these settings. If the kernel does not offer them to
    # users, use the drop-in drop-ins/no-namespaces.conf, installed in share/doc/binderd.
    # In the namespace all other users, including root, are nobody: only this user is a known client.
    PrivateUsers=yes
    CapabilityBoundingSet=
    NoNewPrivileges=yes
    RestrictSUIDSGID=yes
    KeyringMode=private

    # Journal and configuration are in the home directory; a journal elsewhere needs another ReadWritePaths=.
    ProtectSystem=strict
    ReadWritePaths=%h
    PrivateTmp=yes
    PrivateDevices=yes
    DevicePolicy=closed
    PrivateMounts=yes
    ProtectProc=invisible
    # Not ProcSubset=pid: the service `system` reads /proc/stat, meminfo, loadavg and uptime.
    \(Self.kernelSandbox)

    # Outgoing connections only, for services such as feeds. Without them: PrivateNetwork=yes.
    RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
    SocketBindDeny=any

    \(serviceEnd("default.target"))
    """
  }

  /// The lines from `Documentation=` to the time limits.
  private func serviceBegin(_ systemctl: String) -> String {
    """
    Documentation=man:binderd(8) man:binder.conf(5)
    Requires=\(name).socket
    After=\(name).socket
    # After five failed starts service and socket stay stopped; to reset them: \(systemctl) reset-failed.
    StartLimitIntervalSec=30
    StartLimitBurst=5

    [Service]
    Type=notify
    ExecStart=\(command)
    # A wrong configuration fails the reload and changes nothing.
    ExecReload=\(command) --check-config --quiet
    ExecReload=kill -HUP $MAINPID
    WatchdogSec=20
    TimeoutAbortSec=10
    # systemd-coredump writes crash dumps: Swift's backtracer would start a program, which the sandbox forbids.
    Environment=SWIFT_BACKTRACE=enable=no
    Restart=on-failure
    # Invalid command line, unusable configuration or journal: another start would not help.
    RestartPreventExitStatus=64 78
    # A long replay extends this limit itself.
    TimeoutStartSec=60
    TimeoutStopSec=30
    """
  }

  private func serviceEnd(_ target: String) -> String {
    """
    LockPersonality=yes
    MemoryDenyWriteExecute=yes
    RestrictNamespaces=yes
    RestrictRealtime=yes
    SystemCallArchitectures=native
    SystemCallFilter=@system-service
    SystemCallFilter=~@privileged @resources
    # The snapshot thread lowers its priority.
    SystemCallFilter=setpriority
    SystemCallErrorNumber=EPERM

    [Install]
    WantedBy=\(target)
    Also=\(name).socket

    """
  }

  /// The lines that hide the machine from a system service.
  static var systemSandbox: String {
    """
    CapabilityBoundingSet=
    NoNewPrivileges=yes
    RestrictSUIDSGID=yes
    RemoveIPC=yes
    KeyringMode=private

    ProtectSystem=strict
    ProtectHome=yes
    PrivateTmp=yes
    PrivateDevices=yes
    DevicePolicy=closed
    PrivateMounts=yes
    PrivateIPC=yes
    ProtectProc=invisible
    """
  }

  static var kernelSandbox: String {
    """
    ProtectClock=yes
    ProtectHostname=yes
    ProtectControlGroups=yes
    ProtectKernelLogs=yes
    ProtectKernelModules=yes
    ProtectKernelTunables=yes
    """
  }

  /// The system calls of a service that does not lower its priority itself.
  static var systemCalls: String {
    """
    LockPersonality=yes
    MemoryDenyWriteExecute=yes
    RestrictNamespaces=yes
    RestrictRealtime=yes
    SystemCallArchitectures=native
    SystemCallFilter=@system-service
    SystemCallFilter=~@privileged @resources
    SystemCallErrorNumber=EPERM
    """
  }
}
