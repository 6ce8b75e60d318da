/**
 * The image of deploy/Dockerfile, and the DaemonSet on a node, as kubelet would run it: its containers on a real containerd,
 * with the mounts and rights of the manifest, and nothing else. Pods are wired through them, and outlive them. One file for
 * both, since building the image takes longer than all else.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { tools } from '../../ipkeeper-server/network/plan/tools.ts'
import { remedyHere } from '../../shared/remedy/place.ts'
import { startContainerdMachine } from '../rigs/containerd-machine.ts'
import { buildImage, type Image } from '../rigs/image.ts'
import { distFolder, missing } from '../rigs/requirements.ts'

const skip = missing('image-builder', 'mirror', 'executables')
const deploy = join(import.meta.dirname, '..', '..', 'deploy')

interface Mount {
  readonly name: string
  readonly mountPath: string
  readonly readOnly?: boolean
  readonly mountPropagation?: 'HostToContainer'
}

interface Container {
  readonly name: string
  readonly args: readonly string[]
  readonly securityContext: {
    readonly privileged?: boolean
    readonly readOnlyRootFilesystem: boolean
    readonly capabilities: { readonly drop: readonly string[]; readonly add: readonly string[] }
  }
  readonly volumeMounts: readonly Mount[]
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
}

interface Probe {
  readonly exec: { readonly command: readonly string[] }
}

interface PodSpec {
  readonly securityContext: { readonly seccompProfile: { readonly type: string } }
  readonly initContainers: readonly [Container]
  readonly containers: readonly [Container]
  readonly volumes: readonly {
    readonly name: string
    readonly hostPath?: { readonly path: string; readonly type: string }
    readonly configMap?: { readonly name: string }
  }[]
}

const { spec } = parse(readFileSync(join(deploy, 'kubernetes', 'base', 'daemonset.yaml'), 'utf8')) as {
  spec: { template: { spec: PodSpec } }
}
const pod = spec.template.spec
const [installer] = pod.initContainers
const [daemon] = pod.containers

t.test('the image and a node', { skip }, async t => {
  const image = await buildImage(t)
  await t.test('the image', t => hasWhatTheDaemonRuns(t, image))
  await t.test('on a node', { skip: missing('clean-machine', 'containerd', 'reference-plugins') }, t =>
    runsOnNode(t, image),
  )
})

async function hasWhatTheDaemonRuns(t: Test, image: Image): Promise<void> {
  t.match(image.config, {
    Entrypoint: ['/usr/local/bin/ipkeeper-server'],
    Cmd: ['serve'],
    Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  })
  t.match(
    image.config.Labels,
    {
      'org.opencontainers.image.base.name': 'localhost/base:1',
      'org.opencontainers.image.base.digest': /^sha256:[0-9a-f]{64}$/,
    },
    'it says what it was built on',
  )
  for (const container of [installer, daemon])
    t.notOk('command' in container, `${container.name}: what runs is the entry point`)

  for (const [name, origin] of Object.entries(tools)) {
    const { exit } = await image.run(
      ...['sh', '-c', `command -v ${name} && dpkg --listfiles ${origin} | grep '/s\\?bin/${name}$'`],
    )
    t.equal(exit, 0, `${name}, of ${origin}`)
  }

  const version = /^[a-z-]+ \d+\.\d+\.\d+/
  for (const [words, said] of [
    [['ipkeeper-server', '--version'], version],
    [['ipkeeperctl', '--version'], version],
    [['sh', '-c', `echo '{"cniVersion":"1.1.0"}' | CNI_COMMAND=VERSION ipkeeper`], /"supportedVersions"/],
  ] as const) {
    const { exit, stdout } = await image.run(...words)
    t.match({ exit, stdout }, { exit: 0, stdout: said }, words.join(' '))
  }

  // The static plugin is in it wherever it could be built.
  const executables = ['ipkeeper', 'ipkeeper-server', 'ipkeeper-static'].filter(name =>
    existsSync(join(distFolder, name)),
  )
  t.strictSame(
    image.added.filter(path => !/^\/(etc|var)\//.test(path)).sort(),
    [...executables, 'ipkeeperctl'].map(name => `/usr/local/bin/${name}`).sort(),
    'beside what packages put where they keep their state, these were added',
  )
  for (const name of executables) {
    const hash = createHash('sha256')
      .update(readFileSync(join(distFolder, name)))
      .digest('hex')
    const { stdout } = await image.run(
      ...['sh', '-c', `cd /usr/local/bin && sha256sum ${name} && stat -c '%u %g %a' ${name}`],
    )
    t.equal(stdout, `${hash}  ${name}\n0 0 755\n`, `${name}, as it was built`)
  }

  // What buildah is told in these places, another builder takes from the file.
  const dockerfile = readFileSync(join(deploy, 'Dockerfile'), 'utf8')
  t.match(dockerfile, /^FROM \$\{BASE\}$/m)
  t.match(dockerfile, /^ARG ARCH=\$\{TARGETARCH\}$/m)
}

/** What containerd gives a container that asks for nothing else. */
const standardCapabilities = [
  ...[
    'AUDIT_WRITE',
    'CHOWN',
    'DAC_OVERRIDE',
    'FOWNER',
    'FSETID',
    'KILL',
    'MKNOD',
    'NET_BIND_SERVICE',
    'NET_RAW',
  ],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]

/** Flags of `ctr run` for what kubelet would have the runtime do. */
function rightsOf({ name, securityContext }: Container): readonly string[] {
  const { privileged, readOnlyRootFilesystem, capabilities } = securityContext
  const { add, drop } = capabilities
  if (
    privileged === true ||
    drop.join() !== 'ALL' ||
    pod.securityContext.seccompProfile.type !== 'RuntimeDefault'
  )
    throw new Error(`${name} has more rights than this test knows how to give`)
  return [
    '--seccomp',
    ...(readOnlyRootFilesystem ? ['--read-only'] : []),
    ...standardCapabilities.filter(right => !add.includes(right)).map(right => `--cap-drop CAP_${right}`),
    ...add.map(right => `--cap-add CAP_${right}`),
  ]
}

async function runsOnNode(t: Test, image: Image): Promise<void> {
  const machine = await startContainerdMachine(t)
  const { must } = machine
  // The plugins of others, where most nodes have them.
  await must(`
mkdir -p /opt/cni/bin
cp /usr/lib/cni/loopback /usr/lib/cni/portmap /opt/cni/bin
sed -i 's#/usr/lib/cni#/opt/cni/bin#' /etc/containerd/config.toml
systemctl restart containerd
mkdir -p /srv/ipkeeper /srv/ipkeeper-network
cp ${machine.checkout}/deploy/kubernetes/base/config.yaml /srv/ipkeeper/
cp ${machine.checkout}/deploy/cni/10-ipkeeper.conflist /srv/ipkeeper-network/`)

  const ctr = 'ctr --namespace kubelet'
  await must(`${ctr} image import -`, { input: readFileSync(image.archive) })

  const sourceOf = (name: string, host = ''): string => {
    const { hostPath, configMap } = pod.volumes.find(candidate => candidate.name === name) ?? {}
    return hostPath ? `${host}${hostPath.path}` : `/srv/${configMap?.name ?? 'nothing'}`
  }
  const files = pod.volumes.filter(({ hostPath }) => hostPath?.type === 'FileOrCreate')
  const folders = pod.volumes.filter(volume => !files.includes(volume))
  await must(`
mkdir -p ${folders.map(({ name }) => sourceOf(name)).join(' ')}
touch ${files.map(({ name }) => sourceOf(name)).join(' ')}`)

  /**
   * @param host folder that is the root of the host
   * @param words in place of the entry point and what the manifest gives it
   */
  const runs = (
    container: Container,
    id: string,
    flags: string,
    host?: string,
    words: readonly string[] = [...image.config.Entrypoint, ...container.args],
  ): string =>
    [
      `${ctr} run --net-host ${flags} --env IPKEEPER_NODE=worker-1`,
      ...rightsOf(container),
      ...container.volumeMounts.map(({ name, mountPath, readOnly, mountPropagation }) => {
        const options = [
          'rbind',
          readOnly === true ? 'ro' : 'rw',
          mountPropagation === 'HostToContainer' ? 'rslave' : 'rprivate',
        ]
        return `--mount type=bind,src=${sourceOf(name, host)},dst=${mountPath},options=${options.join(':')}`
      }),
      // As kubelet does; ctr takes words in the place of the entry point, too.
      [image.name, id, ...words].join(' '),
    ].join(' ')
  const exec = (id: string, words: readonly string[]): string =>
    `${ctr} task exec --exec-id probe-$$ ${id} ${words.join(' ')}`
  const start = async (id: string): Promise<void> => {
    await must(runs(daemon, id, '--detach'))
    const probe = exec(id, daemon.readinessProbe.exec.command)
    await must(`timeout 30 sh -c 'until ${probe} >/dev/null 2>&1; do sleep 0.1; done'`)
    for (const { exec: asks } of [daemon.startupProbe, daemon.livenessProbe])
      await must(exec(id, asks.command))
  }
  const end = (id: string, signal: string): Promise<string> =>
    must(`
${ctr} task kill --signal ${signal} ${id}
timeout 20 sh -c 'until ${ctr} task list | grep -q "${id} .*STOPPED"; do sleep 0.1; done'
${ctr} task delete ${id} 2>/dev/null || true
${ctr} container delete ${id}`)
  const answers = 'arping -c 1 -w 5 -I ipk0 10.22.0.50 | tail -1'
  const asking = (uid: string): string =>
    `echo '{"metadata":{"namespace":"shop","name":"web-0","uid":"${uid}","attempt":1},"annotations":{"ipkeeper.io/ip":"10.22.0.50"}}' >/tmp/${uid}.json
crictl runp /tmp/${uid}.json`

  await t.test('the init step installs plugin and network', async t => {
    t.equal(
      await must(runs(installer, 'install', '--rm')),
      'installed /opt/cni/bin/ipkeeper\ninstalled /etc/cni/net.d/10-ipkeeper.conflist\n',
    )
    t.equal(
      await must(runs(installer, 'install', '--rm')),
      '/opt/cni/bin/ipkeeper is up to date\n/etc/cni/net.d/10-ipkeeper.conflist is up to date\n',
      'a pod that is restarted writes nothing',
    )
  })

  await t.test('a host without glibc gets the static plugin', { skip: missing('static-plugin') }, async t => {
    const bare = '/srv/bare'
    await must(`
mkdir -p ${['usr', 'opt/cni/bin', 'etc/cni/net.d'].map(folder => `${bare}/${folder}`).join(' ')}
cp /opt/cni/bin/portmap ${bare}/opt/cni/bin`)
    for (const said of ['installed /opt/cni/bin/ipkeeper', '/opt/cni/bin/ipkeeper is up to date'])
      t.equal(
        (await must(runs(installer, 'bare', '--rm', bare))).split('\n')[0],
        `${said}: the static plugin, since this host has no glibc`,
      )
    const { stdout } = await machine.shell(
      `echo '{"cniVersion":"1.1.0"}' | CNI_COMMAND=VERSION chroot ${bare} /opt/cni/bin/ipkeeper`,
    )
    t.match(stdout, /"supportedVersions"/, 'it starts there')
  })

  await t.test('a pod gets its address; its namespace was mounted after the daemon began', async t => {
    await start('first')
    const id = (await must(asking('one'))).trim()
    t.match(id, /^[\da-f]{64}$/)
    const { stdout } = await machine.shell(exec('first', ['ipkeeperctl', 'who', '10.22.0.50']))
    t.match(stdout, /^10.22.0.50 is bound to shop\/web-0 \(container [\da-f]{13} on node worker-1;/)
    t.equal(await must(answers), 'Received 1 response(s)\n')
    // From outside: ctr ends with what it executes, and on a busy machine drops what that has just printed.
    const rights = await must(`
pid=$(${ctr} task ls | awk '$1 == "first" { print $2 }')
cat /proc/$pid/status /proc/$pid/mounts`)
    t.match(rights, /^CapBnd:\t0000000000203002$/m, 'it has the capabilities of the manifest')
    t.match(rights, /^Seccomp:\t2$/m)
    t.match(rights, /^proc \/proc\/sys proc ro,/m)
    const doctor = await machine.shell(exec('first', ['ipkeeperctl', 'doctor']))
    t.equal(doctor.exit, 0, 'the doctor is content', { stdout: doctor.stdout })
    t.match(
      doctor.stdout,
      /^ *ok +identity +node worker-1, ID [\da-f]{12}, by machine-id/m,
      "the machine's ID is seen",
    )
  })

  await t.test('the plugin stays while pods need it', async t => {
    const { exit, stderr } = await machine.shell(exec('first', ['ipkeeper-server', 'uninstall']))
    t.not(exit, 0)
    t.match(stderr, /ipkeeper stays: 1 sandbox needs it/)
    await must('mv /etc/cni/net.d/10-ipkeeper.conflist.uninstalled /etc/cni/net.d/10-ipkeeper.conflist')
  })

  await t.test('a crash: pods go on, and can be ended; the next daemon knows all', async t => {
    await end('first', 'SIGKILL')
    t.equal(await must(answers), 'Received 1 response(s)\n')
    await must('for pod in $(crictl pods -q); do crictl stopp $pod; crictl rmp $pod; done')
    t.equal(await must('ls /var/lib/ipkeeper/deferred-dels | wc -l'), '1\n')
    await start('second')
    t.equal(await must('ls /var/lib/ipkeeper/deferred-dels | wc -l'), '0\n')
    await must(asking('two'))
    t.equal(await must(answers), 'Received 1 response(s)\n')
  })

  await t.test('a rollout: the same', async t => {
    await end('second', 'SIGTERM')
    t.equal(await must(answers), 'Received 1 response(s)\n')
    await must(runs(installer, 'install', '--rm'))
    // Pods that one plugin began the other one ends.
    if (missing('static-plugin') === false)
      t.equal(
        await must(runs({ ...installer, args: ['install', '--plugin', 'static'] }, 'other-install', '--rm')),
        'installed /opt/cni/bin/ipkeeper: the static plugin\n',
      )
    await start('third')
    const { stdout } = await machine.shell(exec('third', ['ipkeeperctl', 'leases']))
    t.match(stdout, /10\.22\.0\.50\/16 +bound +shop\/web-0/)
  })

  await t.test('a ledger that was saved is put back in a copy of the pod', async t => {
    const inPod = async (id: string, line: string) => await machine.shell(exec(id, line.split(' ')))
    const startedAs = {
      service: 'pod',
      namespace: 'ipkeeper-system',
      node: 'worker-1',
      pod: 'third',
    } as const
    /** What is typed behind "kubectl exec POD --", as hints say it. */
    const said = (written: string): string => remedyHere(written, { startedAs }).split(' -- ').at(-1) ?? ''
    const reserved = async (id: string): Promise<string> =>
      (await inPod(id, 'ipkeeperctl reservations -o name')).stdout
    t.match(await inPod('third', 'ipkeeperctl reserve 10.22.0.77 shop/later'), { exit: 0 })
    t.match(await inPod('third', said('ipkeeperctl backup FILE')), { exit: 0 })
    t.match(await inPod('third', 'ipkeeperctl unreserve 10.22.0.77'), { exit: 0 })
    // What "kubectl debug --copy-to" makes: the container, without its probes, and with another program in it.
    await must(runs(daemon, 'copy', '--detach', undefined, ['sleep', 'infinity']))
    const restore = said('ipkeeperctl restore FILE')
    const refused = await inPod('copy', restore)
    t.not(refused.exit, 0, 'not while the daemon of the node runs', { stderr: refused.stderr })
    t.equal(await reserved('third'), '')
    await end('third', 'SIGTERM')
    t.not(
      (await inPod('copy', 'mkdir -p /root/ledger.old')).exit,
      0,
      'the state folder alone can be written to',
    )
    const page = readFileSync(join(deploy, '..', 'docs', 'operations', 'backup.md'), 'utf8')
    const mv = /(?<=ipkeeper-offline-NODE -- )sh -c '.*'/.exec(page)?.[0] ?? 'false'
    t.match(await inPod('copy', mv), { exit: 0 }, mv)
    t.match(await inPod('copy', `${restore} --dry-run`), { exit: 0 })
    t.match(await inPod('copy', restore), { exit: 0 })
    await start('fourth')
    t.match(await reserved('fourth'), '10.22.0.77', 'what was reserved then is reserved')
    t.match((await inPod('fourth', 'ipkeeperctl leases')).stdout, /10\.22\.0\.50\/16 +bound +shop\/web-0/)
    t.equal(await must(answers), 'Received 1 response(s)\n', 'and who lives has never noticed')
    await end('copy', 'SIGKILL')
  })

  await t.test('away with it', async t => {
    await must('for pod in $(crictl pods -q); do crictl stopp $pod; crictl rmp $pod; done')
    const { exit, stdout } = await machine.shell(exec('fourth', ['ipkeeper-server', 'uninstall']))
    t.equal(exit, 0)
    t.match(stdout, /removed \/opt\/cni\/bin\/ipkeeper\nwhat stays: the state folder/)
    await end('fourth', 'SIGTERM')
    t.equal(await must('ls /opt/cni/bin'), 'loopback\nportmap\n')
  })
}
