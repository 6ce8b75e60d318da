import { formatAddress, sameAddress } from '../../shared/net/address.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { noRequest, type AddressRequest, type PodRequest } from './request.ts'

/** The requests of one of CNI's own channels, in the order of their precedence. */
export interface CniChannel {
  readonly name: string
  readonly addresses: readonly AddressRequest[]
}

const show = (request: AddressRequest): string => `${request.source} (${formatAddress(request.address)})`

/** An address that is listed twice is asked for once; with another prefix length it is another request. */
function withoutRepetition(requests: readonly AddressRequest[]): readonly AddressRequest[] {
  return requests.filter((request, index) => {
    const first = requests.findIndex(other => sameAddress(other.address, request.address))
    return first === index || requests[first]?.prefixLength !== request.prefixLength
  })
}

/**
 * One request out of all channels. Of CNI's own the highest that asks for anything wins and the lower ones are noted as
 * ignored (cni:CONVENTIONS.md; runtimeConfig.ips > args.cni.ips > CNI_ARGS). An annotation and a CNI channel that name
 * different addresses of one family are IPK_REQUESTS_DISAGREE: never a silent pick.
 */
export function mergeRequests(annotation: Partial<PodRequest>, channels: readonly CniChannel[]): PodRequest {
  const [winner, ...lower] = channels.filter(channel => channel.addresses.length > 0)
  const asked = annotation.addresses ?? []
  const fromCni = withoutRepetition(winner?.addresses ?? [])
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
    ...noRequest,
    ...annotation,
    addresses: [...asked, ...extra],
    ignored: lower.flatMap(channel => channel.addresses.map(show)),
  }
}
