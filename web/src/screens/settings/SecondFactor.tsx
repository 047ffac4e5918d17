// The second factor: propose a secret, show it once as a picture and as text, confirm it with a first code.
import { Button, Code, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMe } from "../../api/me";
import { Problem } from "../../api/problem";
import { Once } from "../../ui/Once";
import { Qr } from "../../ui/Qr";
import { Section } from "../../ui/Section";
import { t } from "../../messages/settings";

export function SecondFactor() {
  const me = useMe();
  const [codes, setCodes] = useState<string[] | null>(null);
  const message = me.second_factor
    ? t("onYouNeedACodeFrom")
    : t("offTurnItOnSoA");
  return (
    <Section title={t("twoFactorAuthentication")} message={message}>
      {codes !== null && (
        <Once
          title={t("yourRecoveryCodes")}
          message={t("eachCodeWorksOnceIfYou")}
          secret={codes.join("\n")}
          onClose={() => setCodes(null)}
        />
      )}
      {me.second_factor ? codes === null && <SwitchOff /> : <SwitchOn onCodes={setCodes} />}
    </Section>
  );
}

function SwitchOn({ onCodes }: { onCodes: (codes: string[]) => void }) {
  const queries = useQueryClient();
  const [address, setAddress] = useState<string | null>(null);
  const proof = useForm({ initialValues: { password: "" } });
  const first = useForm({ initialValues: { code: "" } });
  const propose = useAct("me", (body: typeof proof.values) => take(api.POST("/api/v1/me/second-factor", { body })), {
    after: (answer) => setAddress(answer.address),
    refused: (error) => {
      proof.setErrors({ password: error.message });
      return true;
    },
  });
  const confirm = useAct("me", (body: typeof first.values) => take(api.POST("/api/v1/me/second-factor/confirm", { body })), {
    done: () => t("twoFactorAuthenticationIsOnYoure"),
    after: (answer) => {
      onCodes(answer.codes);
      return queries.invalidateQueries({ queryKey: ["me"] });
    },
    refused: (error) => {
      first.setErrors({ code: error.message });
      return true;
    },
  });
  if (address === null) {
    return (
      <form onSubmit={proof.onSubmit((values) => propose.mutate(values))}>
        <Group align="flex-end">
          <PasswordInput
            label={t("confirmYourPassword")}
            autoComplete="current-password"
            required
            miw={220}
            {...proof.getInputProps("password")}
          />
          <Button type="submit" variant="default" loading={propose.isPending}>
            {t("setUp")}
          </Button>
        </Group>
      </form>
    );
  }
  return (
    <Group align="flex-start" gap="lg">
      <Qr text={address} label={t("qrCodeForAnAuthenticatorApp")} />
      <Stack gap="sm" maw={420}>
        <Text size="sm">{t("scanTheQrCodeWithYour")}</Text>
        <Code style={{ wordBreak: "break-all" }}>{secretOf(address)}</Code>
        <form onSubmit={first.onSubmit((values) => confirm.mutate(values))}>
          <Group align="flex-end">
            <TextInput
              label={t("codeFromTheApp")}
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              autoFocus
              {...first.getInputProps("code")}
            />
            <Button type="submit" loading={confirm.isPending}>
              {t("turnOn")}
            </Button>
          </Group>
        </form>
      </Stack>
    </Group>
  );
}

/** The secret of an otpauth address, in groups of four letters. */
export function secretOf(address: string): string {
  const secret = new URL(address).searchParams.get("secret") ?? "";
  return secret.replace(/(.{4})(?=.)/g, "$1 ");
}

function SwitchOff() {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { code: "" } });
  const off = useAct("me", (body: typeof form.values) => take(api.POST("/api/v1/me/second-factor/off", { body })), {
    done: () => t("twoFactorAuthenticationIsOff"),
    after: () => queries.invalidateQueries({ queryKey: ["me"] }),
    refused: (error) => {
      form.setErrors({ code: error.message });
      return error instanceof Problem;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => off.mutate(values))}>
      <Group align="flex-end">
        <TextInput
          label={t("codeFromTheAppOrA")}
          autoComplete="one-time-code"
          required
          {...form.getInputProps("code")}
        />
        <Button type="submit" color="red" variant="light" loading={off.isPending}>
          {t("turnOff")}
        </Button>
      </Group>
    </form>
  );
}
