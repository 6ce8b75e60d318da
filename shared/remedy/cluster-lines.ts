/** What is written with kubectl, as it is done where there is no cluster: by the runtime's own tool. */
const rows: readonly (readonly [RegExp, string | ((...words: readonly (string | undefined)[]) => string)])[] =
  [
    [
      /\bkubectl (?:delete pod (?:-n|--namespace) (\S+) ([a-z0-9.-]*[a-z0-9])|--namespace (\S+) delete pod ([a-z0-9.-]*[a-z0-9]))/g,
      (_whole, namespace, name, first, second) =>
        `crictl stopp $(crictl pods -q --namespace ${namespace ?? first ?? ''} --name '^${(name ?? second ?? '').replaceAll('.', '\\.')}$')`,
    ],
    // What stands in brackets behind it says the same.
    [
      /(crictl stopp \$\(\S+ [^)]*\)) \(or: crictl stopp ([0-9a-zA-Z]+)\)/g,
      (_whole, _by, id = '') => `crictl stopp ${id}`,
    ],
    [/\bkubectl get pods --all-namespaces\b/g, 'crictl pods'],
    [/\bkubectl describe pod\b/g, 'crictl inspectp'],
    [/\bkubectl drain\b/g, 'crictl stopp'],
    [
      /\bkubectl get daemonset --all-namespaces -o yaml\b/g,
      'look at how the container of ipkeeper-server is started',
    ],
  ]

export function clusterLines(
  text: string,
  { clustered }: { readonly clustered?: boolean | undefined },
): string {
  if (clustered !== false || !text.includes('kubectl')) return text
  return rows.reduce((said, [pattern, instead]) => said.replace(pattern, instead as string), text)
}
