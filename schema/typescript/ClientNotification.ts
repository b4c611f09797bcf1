// GENERATED CODE! DO NOT MODIFY BY HAND!

export type ClientNotification = { "method": "initialized" };
