// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `windows/worldWritableWarning`: everybody can write to some
 * directories, which the sandbox cannot protect.
 */
export type WindowsWorldWritableWarningNotification = { 
/**
 * Some of them.
 */
samplePaths: Array<string>, 
/**
 * How many there are besides.
 */
extraCount: number, 
/**
 * Whether the search for them did not get to its end.
 */
failedScan: boolean, };
