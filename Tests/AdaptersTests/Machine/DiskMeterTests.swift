import Adapters
import EventLoop
import Features
import Testing

struct DiskMeterTests {
  private func disk(_ path: String, _ available: UInt64) -> Disk {
    Disk(path: path, total: 100, available: available)
  }

  @Test
  func `disks returns current measurements`() {
    let count = Lock(0 as UInt64)
    let meter = DiskMeter(mounts: { ["/a", "/none", "/b"] }) { path in
      guard path != "/none" else { return nil }
      return Disk(
        path: path, total: 100,
        available: count.withLock {
          $0 += 1; return $0
        })
    }
    // A busy machine may answer later than the meter waits.
    var shown = meter.disks()
    while shown.isEmpty { shown = meter.disks() }
    #expect(shown.map(\.path) == ["/a", "/b"])
    while shown.first?.available == 1 { shown = meter.disks() }
    #expect(shown.map(\.total) == [100, 100])
    meter.close()
    #expect(!meter.disks().isEmpty, "what was known is still there")
  }

  @Test
  func `a file system that does not respond blocks one thread, and not the caller`() {
    let gate = Lock(false)
    let asked = Lock(0)
    let meter = DiskMeter(mounts: { ["/dead"] }) { path in
      asked.withLock { $0 += 1 }
      gate.waitWithLock(until: { $0 }) { _ in }
      return Disk(path: path, total: 1, available: 1)
    }
    // If each call waited, this would take a minute.
    for _ in 0..<1_200 { #expect(meter.disks().isEmpty) }
    #expect(asked.withLock(\.self) <= 1)
    meter.close()
    gate.withLock { $0 = true }
    gate.signal()
  }
}

struct MountTableTests {
  @Test
  func `network and FUSE file systems are left out`() {
    let table = """
      /dev/vda1 / ext4 rw 0 0
      proc /proc proc rw 0 0
      tmpfs /run tmpfs rw 0 0
      /dev/sdb1 /media/my\\040disk\\011x vfat rw 0 0
      /dev/vda1 /home ext4 rw 0 0
      //server/share /mnt/share cifs rw 0 0
      /dev/x /mnt/dead fuse rw 0 0
      /dev/sdc1 /mnt/ntfs fuseblk rw 0 0
      /path/of/program /mnt/sshfs fuse.sshfs rw 0 0
      server:/export /mnt/nfs nfs4 rw 0 0
      /dev/mapper/data /data xfs rw 0 0
      short
      """
    #expect(
      MountTable.dataFileSystems(table) == ["/", "/media/my disk\tx", "/data"])
  }
}
