/**
 * Writes what of deploy/helm/ipkeeper is made from other files: templates from the manifests of deploy, values and their schema
 * from scripts/chart/values.schema.ts. Chart.yaml has the version of package.json.
 *
 *   node scripts/generate-chart.ts
 */
import { stringify } from 'yaml'
import { allResources as resources } from '../ipkeeper-server/store/kubernetes/resources.ts'
import { readManifest } from './chart/manifests.ts'
import { templatesOfManifests } from './chart/templates.ts'
import { checksOfValues, schemaOfValues, valuesFile } from './chart/values-files.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const notice = '# Made by scripts/generate-chart.ts; change that, then: make generate\n'

const keywords = ['cni', 'ipam', 'static-ip', 'fixed-ip', 'networking', 'statefulset']

/** What Artifact Hub shows of the chart besides what Helm knows: https of its documentation, "Artifact Hub annotations". */
function artifactHub(): Readonly<Record<string, string>> {
  const examples = ['IPPool', 'IPReservation', 'IPLease', 'IPHolder', 'IPNode', 'IPHistory'] as const
  const crds = examples.map(kind => ({
    kind,
    version: 'v1alpha1',
    name: `${resources[kind].plural}.ipkeeper.io`,
    displayName: kind,
    description: descriptionOf(resources[kind].plural),
  }))
  return {
    'artifacthub.io/category': 'networking',
    'artifacthub.io/license': 'Apache-2.0',
    'artifacthub.io/operator': 'false',
    'artifacthub.io/crds': stringify(crds, { lineWidth: 0 }),
  }
}

const descriptionOf = (plural: string): string =>
  /^ {10}description: (.*)$/m
    .exec(readManifest(`crds/${plural}.yaml`))?.[1]
    ?.replaceAll(/^["']|["']$/g, '') ?? ''

function chartFile(): string {
  const { version, description, license } = JSON.parse(readManifest('../package.json')) as Readonly<
    Record<'version' | 'description' | 'license', string>
  >
  const chart = {
    apiVersion: 'v2',
    name: 'ipkeeper',
    description,
    type: 'application',
    version,
    appVersion: version,
    // The webhook has match conditions; what asks for more is checked where it is wanted.
    kubeVersion: '>=1.28.0-0',
    keywords,
    annotations: { license, ...artifactHub() },
  }
  return notice + stringify(chart, { lineWidth: 0 })
}

const files: Readonly<Record<string, () => string>> = {
  'Chart.yaml': chartFile,
  'values.yaml': valuesFile,
  'values.schema.json': schemaOfValues,
  'templates/_values.tpl': checksOfValues,
  'files/alerts.yaml': () => readManifest('monitoring/alerts.yaml'),
  ...templatesOfManifests,
}

export const chart: readonly GeneratedFile[] = Object.entries(files).map(([path, generate]) => ({
  path: `deploy/helm/ipkeeper/${path}`,
  generate,
}))

if (import.meta.main) for (const file of chart) await writeGenerated(file)
