/** What is written with kubectl, as it is done where there is no cluster: by the runtime's own tool. */
const rows: readonly (readonly [RegExp, string | ((...words: readonly (string | undefined)[]) => string)])[] =
  [
    [
      /\bkubectl (?:--namespace (\S+) )?(delete|describe) pod (?:-n (\S+) )?([a-z0-9.-]*[a-z0-9])/g,
      (_whole, first, verb, second = first, name = '') =>
        `crictl ${verb === 'delete' ? 'stopp' : 'inspectp'} $(crictl pods -q --namespace ${second ?? 'default'} --name '^${name.replaceAll('.', '\\.')}$')`,
    ],
    // What stands in brackets behind it says the same.
    [
      /(crictl stopp \$\(\S+ [^)]*\)) \(or: crictl stopp ([0-9a-zA-Z]+)\)/g,
      (_whole, _by, id = '') => `crictl stopp ${id}`,
    ],
    [/\bkubectl get pods --all-namespaces\b/g, 'crictl pods'],
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
