import { knownTexts } from '../../../../../ipkeeper-server/diagnose/doctor/messages/known-texts.ts'

/** A sandbox, and a pod, that wrappings name. */
export const sandbox = '9b1c44a07d5527e64d1fb5f1be9c8c1e0b0d5fe1b7a1c3f4e5d6a7b8c9d0e1f2'
export const pod = 'bank/ledger-0'

/** As Go writes a text with %q, and JSON a string. */
const quoted = (text: string): string => JSON.stringify(text)

const setup = (text: string): string =>
  `rpc error: code = Unknown desc = failed to setup network for sandbox "${sandbox}": ${text}`
const destroy = (text: string): string =>
  `failed to "KillPodSandbox" for "7c9e6679-7425-40de-944b-e07fc1f90ae7" with KillPodSandboxError: ${quoted(
    `rpc error: code = Unknown desc = failed to destroy network for sandbox "${sandbox}": ${text}`,
  )}`
const klog = 'E1121 10:28:23.143501    2127 pod_workers.go:1298]'

/** Breaks a text after so many characters, as a terminal does whose lines are copied one by one. */
function hardWrapped(text: string, columns: number, indent = ''): string {
  return text.replaceAll(new RegExp(`[^\\n]{${columns}}`, 'g'), part => `${part}\n${indent}`)
}

/** What happens to a text on its way to a person: by name, what a row's example becomes. */
export const wrappings: Readonly<Record<string, (text: string) => string>> = {
  raw: text => text,
  'with white space around': text => `\n\n   ${text}  \n`,
  'event of kubectl': text =>
    `  Warning  FailedCreatePodSandBox  12s (x5 over 2m)  kubelet  Failed to create pod sandbox: ${setup(text)}`,
  'event of a deletion': text =>
    `  Warning  FailedKillPod  43s (x229 over 49m)  kubelet  error killing pod: ${destroy(text)}`,
  "kubelet's log": text =>
    `${klog} "Error syncing pod, skipping" err=${quoted(destroy(text))} pod="${pod}" podUID="7c9e6679-7425-40de-944b-e07fc1f90ae7"`,
  "kubelet's log in the journal": text =>
    `Nov 21 10:28:23 worker-1 kubelet[2127]: ${klog} "Failed to create sandbox for pod" err=${quoted(setup(text))} pod="${pod}"`,
  "containerd's log": text =>
    `time="2026-11-21T10:28:23.143501Z" level=error msg="RunPodSandbox for &PodSandboxMetadata{Name:ledger-0,Uid:7c9e6679-7425-40de-944b-e07fc1f90ae7,Namespace:bank,Attempt:0,} failed, error" error=${quoted(
      `failed to setup network for sandbox "${sandbox}": ${text}`,
    )}`,
  "containerd's log in the journal, as JSON": text =>
    quoted(
      `time="2026-11-21T10:28:23.143501Z" level=error msg=${quoted(`StopPodSandbox for "${sandbox}" failed`)} error=${quoted(
        `failed to destroy network for sandbox "${sandbox}": ${text}`,
      )}`,
    ),
  'a line of JSON of a log shipper': text =>
    JSON.stringify({
      log: `${klog} "Error syncing pod" err=${quoted(destroy(text))} pod="${pod}"\n`,
      stream: 'stderr',
    }),
  'escaped twice more': text => quoted(quoted(`err=${quoted(setup(text))}`)),
  "Go's JSON with < > & escaped": text =>
    quoted(setup(text)).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026'),
  'a web page': text =>
    setup(text)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;'),
  CRLF: text => `${klog} "Error"\r\n\r\nerr: ${setup(text)}\r\n`,
  'colours of a terminal': text =>
    `\u001b[1;31mError:\u001b[0m ${setup(`\u001b[33m${text}\u001b[0m`)}\u001b[K`,
  'colours that journald escaped': text => `#033[31m${setup(text)}#033[0m`,
  'colours that JSON escaped': text =>
    `{"message":"\\u001b[31m${quoted(setup(text)).slice(1, -1)}\\u001b[0m"}`,
  'lines of 80 characters': text => hardWrapped(`${klog} err=${quoted(setup(text))} pod="${pod}"`, 80),
  'lines of 37 characters': text => hardWrapped(destroy(text), 37),
  'lines of 61 characters, indented': text => hardWrapped(setup(text), 61, '        '),
  'lines broken at words': text => setup(text).replaceAll(/(.{40,60}) /g, '$1\n'),
  'typographic quotes': text => setup(text).replaceAll(/"([^"\n]*)"/g, '“$1”'),
  'capitals of a headline': text => (/IPK_/.test(text) ? text : setup(text).toUpperCase()),
}

/** Every example of every row, for tests that go through all of them. */
export const examples = knownTexts.flatMap(row => row.examples.map(example => ({ row, example })))
