import { leaseStates, type FilterName, type ListingTerms } from '../../../shared/api/listing-query.schema.ts'
import type { Option, ReadCall } from './command.ts'
import { OptionProblem } from './option-problem.ts'
import { chooseWord, readLimit } from './options.ts'

/** Each filter is called the same in every listing that has it. */
const filterOptions: Readonly<Record<FilterName, Option>> = {
  namespace: {
    ...{ letter: 'n', value: 'NAMESPACE', text: 'only those of pods in this namespace' },
    offers: 'namespace',
  },
  pod: { value: 'POD', text: 'only those of this pod: NAME or NAMESPACE/NAME', offers: 'pod' },
  node: { value: 'NAME', text: 'only those on this node', offers: 'node' },
  owner: {
    ...{ value: 'OWNER', text: 'only those of this workload: NAME, KIND/NAME or NAMESPACE/KIND/NAME' },
    offers: 'owner',
  },
  selector: {
    ...{ letter: 'l', value: 'SELECTOR' },
    text: 'only those of pods of this node with these labels, as kubectl takes it: app=web,!canary',
  },
  state: {
    ...{ value: 'STATE', text: `only these states, separated by commas: ${leaseStates.join(', ')}` },
    offers: leaseStates,
  },
  pool: { value: 'NAME', text: 'only those of this pool', offers: 'pool' },
  bridge: { value: 'NAME', text: 'only those of this bridge', offers: 'bridge' },
  uplink: { value: 'LINK', text: 'only this link of the host' },
}

/** Options that choose among rows. */
export const filterOptionsOf = ({
  filters,
}: Pick<ListingTerms, 'filters'>): Readonly<Record<string, Option>> =>
  Object.fromEntries(filters.map(name => [name, filterOptions[name]]))

/** Options of a listing whose rows the daemon chooses. */
export function listingOptions(terms: ListingTerms): Readonly<Record<string, Option>> {
  const { sorts } = terms
  return {
    ...filterOptionsOf(terms),
    'sort-by': { value: 'KEY', text: `${sorts.join(', ')} (default: ${sorts[0]})`, offers: sorts },
    limit: { value: 'N', text: 'show at most N, and how many more there are' },
  }
}

function readFilter(name: FilterName, value: string): string {
  if (value === '') throw new OptionProblem(`--${name}`, `--${name} is empty`)
  if (name === 'state')
    return [...new Set(value.split(','))].map(word => chooseWord('--state', word, leaseStates)).join(',')
  if (name === 'namespace' && value.includes('/'))
    throw new OptionProblem(
      '--namespace',
      `--namespace "${value}" is no name of a namespace; for a pod: --pod ${value}`,
    )
  if (name === 'owner' && value.split('/').length > 3)
    throw new OptionProblem(
      '--owner',
      `--owner "${value}" is neither NAME, KIND/NAME nor NAMESPACE/KIND/NAME`,
    )
  if (name === 'pod' && !/^([^/\s]+\/)?[^/\s]+$/.test(value))
    throw new OptionProblem('--pod', `--pod "${value}" is neither NAME nor NAMESPACE/NAME`)
  return value
}

/** The query of the daemon's route, with its question mark; "" where nothing is asked for. Throws IPK_USAGE. */
export function listingQueryText(
  { filters, sorts }: ListingTerms,
  { options }: Pick<ReadCall, 'options'>,
): string {
  const { limit, 'sort-by': sort } = options
  const asked = filters.flatMap(name => {
    const value = options[name]
    return value === undefined ? [] : [[name, readFilter(name, value)] as const]
  })
  const query = new URLSearchParams({
    ...Object.fromEntries(asked),
    ...(sort !== undefined && { sort: chooseWord('--sort-by', sort, sorts) }),
    ...(limit !== undefined && { limit: String(readLimit(limit)) }),
  }).toString()
  return query === '' ? '' : `?${query}`
}

/**
 * The query of a command that changes what filters choose, in place of words or a file; undefined where no filter is given.
 *
 * @throws Problem IPK_USAGE
 */
export function selectionQuery(terms: ListingTerms, { positionals, options }: ReadCall): string | undefined {
  const given = terms.filters.filter(name => options[name] !== undefined)
  const [one] = given
  if (one === undefined) return undefined
  const other = positionals.length > 0 ? 'ADDRESS' : options['file'] === undefined ? undefined : '--file'
  if (other !== undefined) throw new OptionProblem(`--${one}`, `either ${other} or --${one}, not both`)
  return listingQueryText(terms, {
    options: Object.fromEntries(given.map(name => [name, options[name] ?? ''])),
  })
}
