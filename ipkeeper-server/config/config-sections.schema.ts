import { Type } from 'typebox'
import { findingKindNames, findingKinds } from '../../shared/findings.ts'
import { resultCacheFolders } from '../../shared/paths.ts'
import { defaults, duration, integer, oneOf, globs, path, paths } from './schema-words.ts'

const reconcileLimits = {
  minAge: Type.Optional(
    duration('Minimum age of an attachment that is proved dead before it is repaired.', {
      default: defaults.reconcile.minAge,
      example: 'minAge: 2m',
    }),
  ),
  minAgeUnproved: Type.Optional(
    duration(
      'The same where the only evidence is that its runtime does not list it, while its namespace exists or was never seen.',
      { default: defaults.reconcile.minAgeUnproved, example: 'minAgeUnproved: 15m' },
    ),
  ),
  passes: Type.Optional(
    integer(1, 100, 'Number of consecutive passes in which it has to be found where there is no proof.', {
      default: String(defaults.reconcile.passes),
      example: 'passes: 3',
    }),
  ),
}

export const Reconcile = Type.Object(
  {
    mode: Type.Optional(
      oneOf(['repair', 'report', 'off'], 'Whether findings are repaired, only reported, or not looked for.', {
        default: defaults.reconcile.mode,
        example: 'mode: report',
      }),
    ),
    interval: Type.Optional(
      duration('Time between two passes.', {
        default: defaults.reconcile.interval,
        example: 'interval: 30s',
      }),
    ),
    ...reconcileLimits,
    links: Type.Optional(
      globs(
        '^[A-Za-z0-9*](?:[A-Za-z0-9_.*-]{0,14})$',
        'the name of a link, in which "*" stands for any characters',
        'Names of links of other programs that may be removed when they are not in use; `*` stands for any characters. All others are only reported.',
        'links: ["cali*"]',
      ),
    ),
    kinds: Type.Optional(
      Type.Object(
        Object.fromEntries(
          findingKindNames.map(kind => [
            kind,
            Type.Optional(
              Type.Object(
                {
                  mode: Type.Optional(
                    oneOf(['repair', 'report', 'off'], 'As above.', {
                      default: 'that of all kinds',
                      example: 'mode: report',
                    }),
                  ),
                  ...reconcileLimits,
                },
                {
                  additionalProperties: false,
                  description: `Other terms for one kind: ${findingKinds[kind].means}.`,
                  doc: {
                    expected: 'a mapping with mode, minAge, minAgeUnproved or passes',
                    default: 'as for all kinds',
                    example: `${kind}: { mode: report }`,
                  },
                },
              ),
            ),
          ]),
        ),
        {
          additionalProperties: false,
          description: 'Terms for single kinds of findings.',
          doc: {
            expected: 'a mapping of kinds of findings',
            default: 'none',
            example: 'kinds: { link-without-lease: { mode: report } }',
          },
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description: 'How leases are compared with the sandboxes, namespaces and links of the node.',
    doc: {
      expected: 'a mapping with mode, interval, minAge, minAgeUnproved, passes, links or kinds',
      default: 'see below',
      example: 'reconcile: { mode: report }',
    },
  },
)

/** The folders of each kind of cache are `resultCacheFolders` of shared/paths.ts. */
export const ResultCache = Type.Object(
  {
    mode: Type.Optional(
      oneOf(
        ['repair', 'report', 'off'],
        "Whether bad files of ipkeeper's own networks are rewritten, only reported, or not looked for.",
        { default: defaults.resultCache.mode, example: 'mode: report' },
      ),
    ),
    others: Type.Optional(
      oneOf(
        ['report', 'quarantine'],
        "What becomes of bad files of other plugins' networks: they are reported, or moved to `quarantine` in the state folder, from where `ipkeeperctl cache restore` brings them back.",
        { default: defaults.resultCache.others, example: 'others: quarantine' },
      ),
    ),
    interval: Type.Optional(
      duration('Time between two scans; where the system reports changes, they are seen at once.', {
        default: defaults.resultCache.interval,
        example: 'interval: 5m',
      }),
    ),
    folders: Type.Optional(
      Type.Object(
        {
          results: Type.Optional(
            paths('Results that libcni keeps.', {
              default: resultCacheFolders.results.join(', '),
              example: 'results: [/var/lib/cni/results]',
            }),
          ),
          flannel: Type.Optional(
            paths("flannel's.", {
              default: resultCacheFolders.flannel.join(', '),
              example: 'flannel: [/var/lib/cni/flannel]',
            }),
          ),
          multus: Type.Optional(
            paths("multus'.", {
              default: resultCacheFolders.multus.join(', '),
              example: 'multus: [/var/lib/cni/multus]',
            }),
          ),
          hostLocal: Type.Optional(
            paths("host-local's: a folder of each network in it.", {
              default: resultCacheFolders.hostLocal.join(', '),
              example: 'hostLocal: [/var/lib/cni/networks]',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Where they are.',
          doc: {
            expected: 'a mapping with results, flannel, multus or hostLocal',
            default: 'see below',
            example: 'folders: { results: [/var/lib/cni/results] }',
          },
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Results that runtimes and plugins keep on disk; a bad file there keeps a pod Terminating forever. Needs a restart.',
    doc: {
      expected: 'a mapping with mode, others, interval or folders',
      default: 'see below',
      example: 'resultCache: { others: quarantine }',
    },
  },
)

export const Etcd = Type.Object(
  {
    prefix: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: '^/(?:[A-Za-z0-9._-]+/)+$',
        description:
          'Prefix of all keys. Nodes with the same prefix share their leases; clusters that share an etcd need different prefixes.',
        doc: {
          expected: 'a text such as /ipkeeper/v1/, with "/" at both ends',
          default: defaults.etcdPrefix,
          example: 'prefix: /site-2/ipkeeper/',
        },
      }),
    ),
    caFile: Type.Optional(
      path('Certificates of the authorities that may have signed that of etcd, in PEM.', {
        default: 'those that come with Node.js',
        example: 'caFile: /etc/ipkeeper/etcd/ca.crt',
      }),
    ),
    certFile: Type.Optional(
      path('Certificate by which etcd knows this node, in PEM; together with `keyFile`.', {
        default: 'none',
        example: 'certFile: /etc/ipkeeper/etcd/client.crt',
      }),
    ),
    keyFile: Type.Optional(
      path('Its key, in PEM.', { default: 'none', example: 'keyFile: /etc/ipkeeper/etcd/client.key' }),
    ),
    user: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'User of etcd, together with `passwordFile`.',
        doc: { expected: 'a name', default: 'none', example: 'user: ipkeeper' },
      }),
    ),
    passwordFile: Type.Optional(
      path(
        'File that holds the password of `user` and nothing else; a line break at its end does not count.',
        {
          default: 'none',
          example: 'passwordFile: /etc/ipkeeper/etcd/password',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'How etcd is reached with `--store etcd:ENDPOINTS`. Changed files are reloaded within a minute.',
    doc: {
      expected: 'a mapping with prefix, caFile, certFile, keyFile, user or passwordFile',
      default: 'see below',
      example: 'etcd: { caFile: /etc/ipkeeper/etcd/ca.crt }',
    },
  },
)

export const HistoryExport = Type.Object(
  {
    syslog: Type.Optional(
      Type.String({
        maxLength: 300,
        description:
          'Receiver of the history, in RFC 5424: `tcp://HOST:PORT`, `tls://HOST:PORT`, or `udp://HOST:PORT`, where nobody hears of a line that is lost.',
        doc: {
          expected: 'a receiver such as tcp://192.0.2.10:514',
          type: 'URL',
          default: 'required',
          example: 'syslog: tls://logs.example.org:6514',
        },
      }),
    ),
    caFile: Type.Optional(
      path('With `tls`: certificates of the authorities that may have signed that of the receiver, in PEM.', {
        default: 'those that come with Node.js',
        example: 'caFile: /etc/ipkeeper/syslog/ca.crt',
      }),
    ),
    certFile: Type.Optional(
      path(
        'With `tls`: certificate by which the receiver knows this node, in PEM; together with `keyFile`.',
        {
          default: 'none',
          example: 'certFile: /etc/ipkeeper/syslog/client.crt',
        },
      ),
    ),
    keyFile: Type.Optional(
      path('Its key, in PEM.', { default: 'none', example: 'keyFile: /etc/ipkeeper/syslog/client.key' }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Where each entry of the history is sent (docs/guides/history-export.md). Files are read for each connection.',
    doc: {
      expected: 'a mapping with syslog, caFile, certFile or keyFile',
      default: 'none',
      example: 'export: { syslog: tcp://192.0.2.10:514 }',
    },
  },
)
