import { clipped } from '../../../shared/json/fold.ts'
import { formatAddress, sameAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { formatCandidates, requestWithin } from './candidates.ts'
import { noRequest, type AddressRequest, type CandidateList, type PodRequest } from './request.ts'

/** The requests of one of CNI's own channels, in the order of their precedence. */
export interface CniChannel {
  readonly name: string
  readonly addresses: readonly AddressRequest[]
}

const show = ({ source, address, prefixLength }: AddressRequest): string =>
  `${source} (${formatAddress(address)}${prefixLength === undefined ? '' : `/${prefixLength}`})`

const showList = (list: CandidateList): string => `${list.source} (${clipped(formatCandidates(list))})`

/** An address that is listed twice is asked for once; with another prefix length it is another request. */
function withoutRepetition(requests: readonly AddressRequest[]): readonly AddressRequest[] {
  return requests.filter((request, index) => {
    const first = requests.findIndex(other => sameAddress(other.address, request.address))
    return first === index || requests[first]?.prefixLength !== request.prefixLength
  })
}

/** A CNI channel's request that is one of the candidates of its family, if there are any; else it is an error. */
function amongCandidates(request: AddressRequest, lists: readonly CandidateList[]): AddressRequest {
  const list = lists.find(candidate => candidate.family === request.address.family)
  if (!list) return request
  const within = requestWithin(list, request)
  if (within) return within
  throw new Problem('IPK_REQUESTS_DISAGREE', `${show(request)} is not one of ${showList(list)}`)
}

/**
 * One request out of all channels. Of CNI's own the highest that asks for anything wins and the lower ones are noted as
 * ignored (cni:CONVENTIONS.md; runtimeConfig.ips > args.cni.ips > CNI_ARGS). An annotation and a CNI channel that name
 * different addresses of one family are IPK_REQUESTS_DISAGREE: never a silent pick. An address that a CNI channel takes out
 * of a list of candidates is an exact request, and the list of its family is settled by it.
 */
export function mergeRequests(annotation: Partial<PodRequest>, channels: readonly CniChannel[]): PodRequest {
  const [winner, ...lower] = channels.filter(channel => channel.addresses.length > 0)
  const { addresses: asked, candidates, ...rest } = { ...noRequest, ...annotation }
  const fromCni = withoutRepetition(winner?.addresses ?? []).map(request =>
    amongCandidates(request, candidates),
  )
  for (const request of asked) {
    const sameFamily = fromCni.filter(other => other.address.family === request.address.family)
    const [other] = sameFamily
    if (other && !sameFamily.some(candidate => sameAddress(candidate.address, request.address))) {
      throw new Problem(
        'IPK_REQUESTS_DISAGREE',
        `${show(request)} and ${show(other)} ask for different addresses`,
      )
    }
  }
  const extra = fromCni.filter(other => !asked.some(request => sameAddress(request.address, other.address)))
  return {
    ...rest,
    addresses: [...asked, ...extra],
    candidates: candidates.filter(list => !fromCni.some(other => other.address.family === list.family)),
    ignored: lower.flatMap(channel => channel.addresses.map(show)),
  }
}
