import { latestVersion, supportedVersions } from '../../../shared/cni/versions.ts'
import { added, allVersions, refuses, silent, versionsWith, versionsWithout } from '../answers.ts'
import { firstAddresses, network } from '../network.ts'
import type { Row } from '../row.ts'

const unset = { CNI_CONTAINERID: undefined, CNI_NETNS: undefined, CNI_IFNAME: undefined, CNI_PATH: undefined }
const listed = supportedVersions.map(version => `"${version}"`).join(' ')

/** Near misses of a version that is spoken. */
const strangers = [
  '1.2.0',
  '4.3.2',
  '1.0',
  '1',
  'v1.0.0',
  ' 1.0.0',
  '1.0.0 ',
  '01.0.0',
  '1.0.0-rc1',
  '1.0.0.0',
  'adsf',
  '0.3',
]

export const versionRows: readonly Row[] = [
  {
    id: 'D1',
    title: 'VERSION lists the versions that are spoken, and needs no other variable',
    cases: [
      {
        title: 'without environment and stdin: the seven, exactly',
        changesNothing: true,
        run: async (t, rig) => {
          const answer = await rig.run({ verb: 'VERSION', env: unset })
          t.equal(answer.exit, 0)
          t.equal(answer.stderr, '')
          t.strictSame(answer.document, {
            cniVersion: '1.1.0',
            supportedVersions: ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'],
          })
        },
      },
    ],
  },
  {
    id: 'D2',
    title: 'VERSION answers in the version of its input',
    cases: [
      {
        title: 'what is text comes back; anything else, or nothing, is 1.1.0',
        changesNothing: true,
        differs:
          'the reference never reads stdin and always says 1.1.0; the specification wants the input back',
        run: async (t, rig) => {
          const inputs: readonly (readonly [stdin: unknown, answered: string])[] = [
            ...supportedVersions.map(version => [{ cniVersion: version }, version] as const),
            [{ cniVersion: '0.9.9' }, '0.9.9'],
            [{ CNIVersion: '0.4.0' }, '0.4.0'],
            ...[
              '',
              '{',
              'null',
              '[]',
              '{}',
              '{"cniVersion":1}',
              '{"cniVersion":""}',
              '{"cniVersion":null}',
            ].map(text => [text, latestVersion] as const),
          ]
          for (const [config, cniVersion] of inputs) {
            const answer = await rig.run({ verb: 'VERSION', env: unset, config })
            t.strictSame(answer.document, { cniVersion, supportedVersions }, JSON.stringify(config))
            t.equal(answer.exit, 0)
          }
        },
      },
    ],
  },
  {
    id: 'D3',
    title: 'versions are compared letter by letter',
    cases: [
      refuses('every other spelling is code 1, with both sides in details', () =>
        strangers.flatMap(version =>
          ['ADD', 'DEL'].map(
            verb =>
              [
                `${verb} ${version}`,
                { verb, config: network(version) },
                ...([
                  1,
                  'incompatible CNI versions',
                  `config is "${version}", plugin supports [${listed}]`,
                ] as const),
              ] as const,
          ),
        ),
      ),
    ],
  },
  {
    id: 'D4',
    title: 'CHECK is served from 0.4.0 on, GC and STATUS from 1.1.0 on',
    cases: [
      {
        title: 'CHECK where it exists',
        versions: versionsWith('CHECK'),
        run: async (t, rig, version) => {
          await added(t, rig, version)
          await silent(t, rig, { verb: 'CHECK', config: network(version) }, 'CHECK')
        },
      },
      {
        title: 'GC and STATUS where they exist',
        versions: versionsWith('GC'),
        run: async (t, rig, version) => {
          for (const verb of ['GC', 'STATUS']) await silent(t, rig, { verb, config: network(version) }, verb)
        },
      },
      refuses(
        'CHECK before',
        () => [['CHECK', { verb: 'CHECK' }, 1, 'config version does not allow CHECK']],
        {
          versions: versionsWithout('CHECK'),
        },
      ),
      refuses(
        'GC and STATUS before',
        () =>
          ['GC', 'STATUS'].map(verb => [verb, { verb }, 1, `config version does not allow ${verb}`] as const),
        { versions: versionsWithout('GC') },
      ),
      refuses('versions that are no numbers are code 6, later ones code 1', () =>
        ['CHECK', 'GC', 'STATUS'].flatMap(
          verb =>
            [
              [
                `${verb} adsf`,
                { verb, config: network('adsf') },
                6,
                'failed to convert major version part "adsf": strconv.Atoi: parsing "adsf": invalid syntax',
              ],
              [
                `${verb} four parts`,
                { verb, config: network('1.0.0.0') },
                6,
                'invalid version "1.0.0.0": too many parts',
              ],
              [
                `${verb} rc`,
                { verb, config: network('1.1.0-rc1') },
                6,
                /^failed to convert micro version part "0-rc1": /,
              ],
              [
                `${verb} 1.2.0`,
                { verb, config: network('1.2.0') },
                1,
                `plugin version does not allow ${verb}`,
              ],
              [`${verb} 2`, { verb, config: network('2') }, 1, `plugin version does not allow ${verb}`],
              [`${verb} 1.1`, { verb, config: network('1.1') }, 1, 'incompatible CNI versions'],
            ] as const,
        ),
      ),
    ],
  },
  {
    id: 'D5',
    title: 'every version that a conflist may carry is listed and served',
    cases: [
      {
        title: 'an ADD and a DEL in each',
        versions: allVersions,
        run: async (t, rig, version) => {
          t.strictSame(await added(t, rig, version), firstAddresses)
          await silent(t, rig, { verb: 'DEL', config: network(version) }, 'DEL')
          t.strictSame(await rig.bound(), [])
        },
      },
    ],
  },
  {
    id: 'D6',
    title: 'a result bears the version of its configuration',
    see: ['D5', 'E1'],
  },
  {
    id: 'D7',
    title: 'which version a runtime picks out of several',
    notTested: 'a property of libcni: a plugin sees only the one that was picked',
  },
]
