// The zones that this browser knows; the server checks against its own list.
export const zones: string[] = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
