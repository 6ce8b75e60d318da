/** What `make install` puts where, on a machine of its own, and how systemd judges and keeps the unit. */
import t from 'tap'
import { startCleanMachine } from '../rigs/clean-machine.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('clean-machine', 'executables')

t.test('make install', { skip }, async t => {
  const machine = await startCleanMachine()
  t.teardown(() => machine.close())
  const files = async (folder: string): Promise<readonly string[]> =>
    (await machine.must(`cd ${folder} && find . ! -type d | sort`)).trimEnd().split('\n')

  await t.test('DESTDIR, PREFIX and the folders are honoured', async t => {
    const where = 'DESTDIR=/tmp/image PREFIX=/usr CNI_BIN_DIR=/usr/lib/cni CONFLIST=1'
    await machine.must(`make install ${where}`)
    const { page = [], file = [] } = Object.groupBy(await files('/tmp/image'), path =>
      path.startsWith('./usr/share/doc/ipkeeper/docs/') ? 'page' : 'file',
    )
    const isPage = (path: string): boolean => path.endsWith('.md')
    t.ok(
      page.every(isPage) && page.includes('./usr/share/doc/ipkeeper/docs/operations/rescue.md'),
      'what hints name',
    )
    t.strictSame(file, [
      './etc/cni/net.d/10-ipkeeper.conflist',
      './usr/bin/ipkeeper-server',
      './usr/bin/ipkeeperctl',
      './usr/lib/cni/ipkeeper',
      './usr/lib/systemd/system/ipkeeper.service',
      './usr/lib/tmpfiles.d/ipkeeper.conf',
      './usr/share/bash-completion/completions/ipkeeperctl',
      './usr/share/fish/vendor_completions.d/ipkeeperctl.fish',
      './usr/share/man/man8/ipkeeper-server.8',
      './usr/share/man/man8/ipkeeper.8',
      './usr/share/man/man8/ipkeeperctl.8',
      './usr/share/zsh/site-functions/_ipkeeperctl',
    ])
    const unit = await machine.must(
      'grep ^ExecStart.*/ipkeeper /tmp/image/usr/lib/systemd/system/ipkeeper.service',
    )
    t.equal(
      unit,
      'ExecStart=/usr/bin/ipkeeper-server serve\nExecStartPost=-/usr/bin/ipkeeperctl alive --wait $MAINPID\n',
    )
    await machine.must(`make uninstall ${where}`)
    t.strictSame(await files('/tmp/image'), [''])
  })

  await t.test('man pages and completions go with it, where they were built', async t => {
    await machine.must('mkdir -p dist/share/man/man8 && echo x >dist/share/man/man8/x.8')
    await machine.must('make install DESTDIR=/tmp/pages')
    t.ok((await files('/tmp/pages')).includes('./usr/local/share/man/man8/x.8'))
    await machine.must('make uninstall DESTDIR=/tmp/pages; rm -r dist/share')
    t.strictSame(await files('/tmp/pages'), [''])
  })

  await t.test('a plugin that is in use is replaced, not written to', async t => {
    await machine.must('make install')
    const { stdout } = await machine.shell(`
      exec 3</opt/cni/bin/ipkeeper
      make install >/dev/null
      stat -L -c %i /proc/self/fd/3 /opt/cni/bin/ipkeeper | uniq | wc -l
      ls -A /opt/cni/bin`)
    t.equal(stdout, '2\nipkeeper\n')
  })

  await t.test('a conflist that somebody adapted stays, also at the end', async t => {
    await machine.must('make install CONFLIST=1 && make install CONFLIST=1')
    await machine.must("sed -i 's/10.22/10.23/' /etc/cni/net.d/10-ipkeeper.conflist")
    const again = await machine.shell('make install CONFLIST=1')
    t.not(again.exit, 0)
    t.match(again.stderr, /is there already, with other text, and stays; compare: diff /)
    const { stderr } = await machine.shell('make uninstall DESTDIR=/tmp/none CNI_CONF_DIR=/none')
    t.equal(stderr, '')
    t.equal(await machine.must('grep -c 10.23 /etc/cni/net.d/10-ipkeeper.conflist'), '1\n')
  })

  await t.test(
    "lint and try look where Debian's containerd does",
    { skip: missing('reference-plugins') },
    async t => {
      await machine.must('rm -rf /opt/cni /etc/cni/net.d; make install CONFLIST=1 CNI_BIN_DIR=/usr/lib/cni')
      const { exit, stdout, stderr } = await machine.shell('ipkeeperctl lint')
      t.strictSame([exit, stderr], [0, ''])
      t.match(stdout, /no findings: 1 file checked\n$/)
      await machine.must('mv /usr/lib/cni/ipkeeper /opt')
      t.match(
        (await machine.shell('ipkeeperctl lint')).stdout,
        'there is no program "ipkeeper" in /usr/lib/cni',
      )
      await machine.must('make install')
    },
  )

  await t.test('systemd has nothing to say against the unit', async t => {
    await machine.must('systemctl daemon-reload')
    const { exit, stderr } = await machine.shell('systemd-analyze verify ipkeeper.service')
    t.strictSame([exit, stderr], [0, ''])
    const judged = await machine.must(
      'systemd-analyze security --offline=true /usr/local/lib/systemd/system/ipkeeper.service | tail -1',
    )
    const [, exposure = '10'] = /exposure level for ipkeeper.service: ([\d.]+)/.exec(judged) ?? []
    t.comment(judged.trim())
    t.ok(Number(exposure) <= 3.8, 'no more exposed than it was')
    t.equal((await machine.shell('systemd-tmpfiles --create ipkeeper.conf')).stderr, '')
  })

  await t.test('the service runs with few rights, and comes back whatever ends it', async t => {
    const ready = `timeout 20 sh -c 'until ipkeeperctl status >/dev/null 2>&1; do sleep 0.05; done'`
    const pid = async (): Promise<string> => await machine.must('systemctl show -P MainPID ipkeeper')
    for (const start of [
      'systemctl enable --now ipkeeper',
      ...Array<string>(4).fill('systemctl restart ipkeeper'),
    ]) {
      const { stdout, stderr } = await machine.shell(`${start} && ipkeeperctl status`)
      t.match(stdout, /^ipkeeper-server .* on node node-1, pid /, `right after: ${start}`)
      t.notMatch(stderr, /error/)
    }
    const first = await pid()
    t.equal(
      await machine.must(`stat -c '%a %U' /run/ipkeeper /var/lib/ipkeeper /run/ipkeeper/ipkeeper.sock`),
      '700 root\n700 root\n600 root\n',
    )
    const status = await machine.must(`cat /proc/${first.trim()}/status`)
    t.match(status, /^CapEff:\t0000000000283000$/m, 'NET_ADMIN, NET_RAW, SYS_PTRACE and SYS_ADMIN')
    t.match(status, /^Seccomp:\t2$/m)
    t.match(status, /^NoNewPrivs:\t1$/m)
    await machine.must(`systemctl kill -s KILL ipkeeper; sleep 0.2; ${ready}`)
    t.not(await pid(), first)
    const readAnew = `timeout 10 sh -c 'until journalctl -u ipkeeper | grep -q "configuration reloaded"; do sleep 0.1; done'`
    await machine.must(`echo 'retention: 30m' >/etc/ipkeeper/config.yaml; ${readAnew}`)
    await machine.must('systemctl reload ipkeeper')
    const spoilt = 'systemctl stop ipkeeper && rm -r /etc/ipkeeper/config.yaml /var/lib/ipkeeper/*'
    await machine.must(`${spoilt} && mkdir /etc/ipkeeper/config.yaml`)
    t.not((await machine.shell('systemctl start ipkeeper')).exit, 0, 'a start that fails is told as one')
    await machine.must(`rmdir /etc/ipkeeper/config.yaml; ${ready}`)
    await machine.must('systemctl stop ipkeeper')
    t.equal(await machine.must('systemctl show -P Result ipkeeper'), 'success\n')
    t.equal(await machine.must('ls -d /run/ipkeeper'), '/run/ipkeeper\n', 'for whoever has it mounted')
  })
})
