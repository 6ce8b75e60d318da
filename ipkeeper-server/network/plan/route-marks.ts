/**
 * What tells our routes from those of others: a routing protocol number that nobody has registered (iproute2,
 * etc/rt_protos), and a metric by which any other route to the same destination goes before ours.
 */
export const routeProtocol = '147'
export const routeMetric = '1470'
