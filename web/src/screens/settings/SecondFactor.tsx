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

export function SecondFactor() {
  const me = useMe();
  const [codes, setCodes] = useState<string[] | null>(null);
  const says = me.second_factor
    ? "On: signing in asks for a code of your authenticator app."
    : "Off. With it a stolen password alone opens nothing.";
  return (
    <Section title="Second factor" says={says}>
      {codes !== null && (
        <Once
          title="Your recovery codes"
          says="Each opens once, on the day when the phone is gone. They are not shown again."
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
    done: () => "The second factor is on. You are signed out everywhere else.",
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
            label="Your password, once more"
            autoComplete="current-password"
            required
            miw={220}
            {...proof.getInputProps("password")}
          />
          <Button type="submit" variant="default" loading={propose.isPending}>
            Set it up
          </Button>
        </Group>
      </form>
    );
  }
  return (
    <Group align="flex-start" gap="lg">
      <Qr text={address} label="QR code for an authenticator app; its secret stands beside it as text" />
      <Stack gap="sm" maw={420}>
        <Text size="sm">Read the picture with an authenticator app, or type this secret into it:</Text>
        <Code style={{ wordBreak: "break-all" }}>{secretOf(address)}</Code>
        <form onSubmit={first.onSubmit((values) => confirm.mutate(values))}>
          <Group align="flex-end">
            <TextInput
              label="The code that the app shows"
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              autoFocus
              {...first.getInputProps("code")}
            />
            <Button type="submit" loading={confirm.isPending}>
              Switch it on
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
    done: () => "The second factor is off.",
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
          label="A code of the app, or a recovery code"
          autoComplete="one-time-code"
          required
          {...form.getInputProps("code")}
        />
        <Button type="submit" color="red" variant="light" loading={off.isPending}>
          Switch it off
        </Button>
      </Group>
    </form>
  );
}
