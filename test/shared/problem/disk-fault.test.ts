import t from 'tap'
import {
  describeDiskFault,
  diskHint,
  hintOfDisk,
  isDiskFault,
  lacksRoom,
  type LimitedBy,
} from '../../../shared/problem/disk-fault.ts'

t.test('what is wrong with a disk, and what to type', t => {
  const rows: readonly [code: string, says: string, hint: RegExp, room: boolean][] = [
    ['ENOSPC', 'is full', /df -h \/s; df -i \/s/, true],
    ['EDQUOT', 'has no quota left', /repquota -a/, true],
    ['EROFS', 'is read-only', /mount -o remount,rw "\$\(findmnt -n -o TARGET -T \/s\)"$/, false],
    ['EIO', 'fails', /dmesg/, false],
  ]
  for (const [code, says, hint, room] of rows) {
    if (!isDiskFault(code)) {
      t.fail(code)
      continue
    }
    t.equal(describeDiskFault(code, '/s'), `the file system of /s ${says} (${code})`)
    t.match(diskHint(code, '/s'), hint)
    t.notMatch(diskHint(code, '/s'), /systemctl/, 'nothing has to be restarted')
    t.equal(lacksRoom(code), room)
    t.equal(hintOfDisk(Object.assign(new Error('x'), { code }), '/s'), diskHint(code, '/s'))
  }
  const ofFile = (code: string, limitedBy?: LimitedBy) =>
    hintOfDisk(Object.assign(new Error('x'), { code }), '/s', {
      path: '/s/leases.db',
      ...(limitedBy && { limitedBy }),
    })
  t.match(ofFile('EFBIG'), /LimitFSIZE.*systemctl restart ipkeeper; .*ls -l \/s\/leases\.db$/)
  t.match(ofFile('EFBIG', 'runtime'), /runtime \("LimitFSIZE" of its unit\), and restart that;/)
  t.notMatch(ofFile('EFBIG', 'runtime'), /ipkeeper/, 'the daemon has other limits')
  t.match(ofFile('EPERM'), /lsattr -d \/s\/leases\.db; .*chattr -i -a \/s\/leases\.db$/)
  for (const code of ['EFBIG', 'EPERM']) t.notOk(isDiskFault(code), 'room is no matter')
  t.match(diskHint('EIO', "/a b'c"), /findmnt -T '\/a b'\\''c'/)
  for (const other of ['EACCES', 'toString', 7, undefined]) t.notOk(isDiskFault(other))
  t.equal(hintOfDisk(new Error('ENOSPC'), '/s'), undefined)
  t.end()
})
