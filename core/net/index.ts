export { type AddressClass, classOf } from './address.ts';
export { type HttpClient, type HttpOptions, httpClient, type Resolve } from './client.node.ts';
export { type CredentialSources, readCredential, tokenFileCredentials } from './credentials.node.ts';
export { type Credentials, fixedCredentials, type Header } from './credentials.ts';
export type { Answer } from './exchange.ts';
export { type AddressPolicy, AS_WRITTEN, onlyPublicAnd, proxyOf, targetOf } from './policy.ts';
export { shownUrl } from './shown-url.ts';
