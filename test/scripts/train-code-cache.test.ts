/** The code cache of the plugin: the same with every build, and no more than time where it does not fit. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { bundleExecutable, products } from '../../scripts/bundle-executable.ts'
import { recordedSeed, seedOption } from '../../scripts/choose-random-seed.ts'
import { fetchNode, hostArchitecture } from '../../scripts/fetch-node.ts'
import { packageExecutable, type CodeCache } from '../../scripts/package-executable.ts'
import { trainCodeCache } from '../../scripts/train-code-cache.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const plugin = products.find(({ isTrained }) => isTrained)
if (plugin === undefined) throw new Error('no executable is trained')
const seed = recordedSeed(process.versions.node)
const nodeOptions = [...plugin.nodeOptions, `--random-seed=${seed}`]
const folder = tempFolder(t)
const script = folder.file('ipkeeper.cjs')
const base = fetchNode(hostArchitecture)

t.before(async () => {
  writeFileSync(script, await bundleExecutable(plugin))
})

/** What an executable with this cache answers when nobody says what it is to do. */
async function greeting(name: string, codeCache: CodeCache): Promise<Finished> {
  const output = folder.file(name)
  await packageExecutable({ script, output, architecture: hostArchitecture, nodeOptions, base, codeCache })
  return await runProgram(output, [], { env: {} })
}

t.test('a seed is on record for the Node that is packaged', t => {
  t.type(seed, 'number', `node scripts/choose-random-seed.ts, then scripts/random-seeds.json`)
  t.end()
})

t.test('a Node without a seed on record has one chosen for it, and the build says so', t => {
  const said: string[] = []
  const choose = (version: string): string =>
    seedOption(
      version,
      'its path',
      node => ({ seed: node === 'its path' ? 7 : 8, withSeed: 20, without: 24 }),
      line => said.push(line),
    )
  t.equal(choose(process.versions.node), `--random-seed=${seed}`)
  t.strictSame(said, [])
  t.equal(choose('0.0.1'), '--random-seed=7')
  t.match(said, [
    /^build: choosing a random seed for Node 0\.0\.1, which has none on record$/,
    /^build: 7, with which it starts in 20 ms of processor time \(without 24\); put it into /,
  ])
  t.end()
})

t.test('the cache of trained runs', async t => {
  const trained = await trainCodeCache({ script, node: base, nodeOptions })
  t.ok(trained.equals(await trainCodeCache({ script, node: base, nodeOptions })), 'the same bytes once more')
  const good = await greeting('trained', trained)
  t.match(good, { exit: 0, stdout: '' })
  t.match(good.stderr, /^CNI ipkeeper plugin v\S+\nCNI protocol versions supported: [^\n]+\n$/)

  const otherSeed = [...plugin.nodeOptions, '--random-seed=1000']
  const taken = await trainCodeCache({ script, node: base, nodeOptions: otherSeed })
  t.match(await greeting('of-another-seed', taken), { exit: 0, stdout: '', stderr: good.stderr })

  const otherOptions = [...nodeOptions, '--no-opt']
  const damaged = Buffer.from(trained)
  damaged.writeUInt8(damaged.readUInt8(4) ^ 1, 4)
  const rows: readonly (readonly [what: string, cache: Buffer])[] = [
    ['of other options of V8', await trainCodeCache({ script, node: base, nodeOptions: otherOptions })],
    ['of another V8', damaged],
    ['cut off', trained.subarray(0, trained.length / 2)],
  ]
  for (const [what, cache] of rows) {
    const { exit, stdout, stderr } = await greeting(what.replaceAll(' ', '-'), cache)
    t.match({ exit, stdout }, { exit: 0, stdout: '' }, what)
    const [first, ...others] = stderr.split('\n')
    t.match(first, /the code cache of this executable is not of its Node/, what)
    t.equal(others.join('\n'), good.stderr, `${what}: and nothing else is different`)
  }
})

t.test('a machine that has no time for a run: it goes the same way', async t => {
  const late = `
    let passed = 0n
    const { bigint } = process.hrtime
    process.hrtime.bigint = () => bigint.call(process.hrtime) + (passed += 300_000_000n)`
  const lateOptions = [...nodeOptions, '--import', `data:text/javascript,${encodeURIComponent(late)}`]
  const trained = await trainCodeCache({ script, node: base, nodeOptions })
  // What is imported first changes bytes of the cache, but not what is in it.
  t.equal((await trainCodeCache({ script, node: base, nodeOptions: lateOptions })).length, trained.length)
})

t.test('a plugin that fails in training is not packaged', async t => {
  const broken = folder.file('broken.cjs')
  writeFileSync(broken, "process.stderr.write('why'); process.exit(3)")
  await t.rejects(trainCodeCache({ script: broken, node: base, nodeOptions }), {
    message: 'STATUS in training ends with 3: why',
  })
})
