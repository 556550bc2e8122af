use base64::Engine;
use base64::alphabet::BCRYPT;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{NO_PAD, STANDARD};
use num_bigint::BigUint;

use super::{Arguments, Context, Function, function};
use crate::value::Value;

/// Beyond this a hash takes minutes.
const COST_MAX: i64 = 14;
/// What is charged for each of the `2^cost` rounds of a hash.
const WORK_OF_ROUND: usize = 500;
/// The longest password that bcrypt takes, in bytes.
const PASSWORD_BYTES_MAX: usize = 72;
/// The longest modulus that is read, in bytes: more digits would only take time.
const MODULUS_BYTES_MAX: usize = 1_024;
/// What is charged for one decryption: about a second's worth at the longest modulus.
const WORK_OF_DECRYPTION: usize = 400_000;

pub(super) const FUNCTIONS: &[Function] = &[
    function("bcrypt", 1, 2, hash),
    function("rsadecrypt", 2, 2, |context, a| {
        let sealed = STANDARD.decode(a.text(0)?.as_bytes()).map_err(|why| format!("no base64: {why}"))?;
        context.budget.charge(WORK_OF_DECRYPTION)?;
        let opened = decrypt(&sealed, &a.text(1)?)?;
        String::from_utf8(opened).map(Value::from).map_err(|_| "what was encrypted is no UTF-8 text".to_owned())
    }),
    function("uuidv4", 0, 0, |context, _| {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = context.budget.chance()?;
        let digits =
            super::encoding::hex(&[a, b, c, d, e, f, g & 0x0f | 0x40, h, i & 0x3f | 0x80, j, k, l, m, n, o, p]);
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or("");
        Ok(format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)).into())
    }),
];

fn hash(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let text = arguments.text(0)?;
    let cost = if arguments.has(1) { arguments.whole(1)? } else { 10 };
    if !(4..=COST_MAX).contains(&cost) {
        return Err(format!("the cost must be 4 to {COST_MAX}"));
    }
    if text.len() > PASSWORD_BYTES_MAX {
        return Err(format!("the text has {} bytes; {PASSWORD_BYTES_MAX} can be hashed", text.len()));
    }
    let cost = u32::try_from(cost).map_err(|_| "the cost is too large")?;
    context.budget.charge(WORK_OF_ROUND.saturating_mul(1_usize.checked_shl(cost).unwrap_or(usize::MAX)))?;
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = context.budget.chance()?;
    Ok(hash_with(cost, [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p], &text).into())
}

fn hash_with(cost: u32, salt: [u8; 16], text: &str) -> String {
    let mut password: Vec<u8> = text.bytes().chain([0]).collect();
    password.truncate(PASSWORD_BYTES_MAX);
    let hashed = bcrypt::bcrypt(cost, salt, &password);
    let letters = GeneralPurpose::new(&BCRYPT, NO_PAD);
    let digest = hashed.get(..23).unwrap_or(&hashed);
    format!("$2a${cost:02}${}{}", letters.encode(salt), letters.encode(digest))
}

/// Opens what was sealed by PKCS #1 v1.5 for the key in PEM.
fn decrypt(sealed: &[u8], pem: &str) -> Result<Vec<u8>, String> {
    let bad_key = || "the key must be an RSA private key in PEM (\"BEGIN RSA PRIVATE KEY\")".to_owned();
    let body: String = pem
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "-----BEGIN RSA PRIVATE KEY-----")
        .skip(1)
        .take_while(|line| *line != "-----END RSA PRIVATE KEY-----")
        .collect();
    let der = STANDARD.decode(body.as_bytes()).map_err(|_| bad_key())?;
    let mut outer = Der(&der);
    let mut numbers = Der(outer.next(0x30).ok_or_else(bad_key)?);
    let _version = numbers.next(0x02).ok_or_else(bad_key)?;
    let modulus = numbers.next(0x02).ok_or_else(bad_key)?;
    let _public = numbers.next(0x02).ok_or_else(bad_key)?;
    let private = numbers.next(0x02).ok_or_else(bad_key)?;
    let length = modulus.iter().skip_while(|byte| **byte == 0).count();
    if length == 0 || length > MODULUS_BYTES_MAX || private.len() > MODULUS_BYTES_MAX + 1 {
        return Err(bad_key());
    }
    let modulus = BigUint::from_bytes_be(modulus);
    let number = BigUint::from_bytes_be(sealed);
    let failed = || "it was not encrypted for this key".to_owned();
    if sealed.len() > MODULUS_BYTES_MAX || number >= modulus {
        return Err(failed());
    }
    let opened = number.modpow(&BigUint::from_bytes_be(private), &modulus).to_bytes_be();
    // 00 02, at least eight bytes of padding that are not 0, 00, what was sealed; the first 00 is lost in the number.
    let (2, padded) = opened.split_first().map(|(kind, padded)| (*kind, padded)).ok_or_else(failed)? else {
        return Err(failed());
    };
    let end = padded.iter().position(|byte| *byte == 0).filter(|end| *end >= 8 && opened.len() + 1 == length);
    end.and_then(|end| padded.get(end + 1..)).map(<[u8]>::to_vec).ok_or_else(failed)
}

/// What is left of a text in DER.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The content of the next part, which must be of this kind.
    fn next(&mut self, kind: u8) -> Option<&'a [u8]> {
        let (tag, rest) = self.0.split_first()?;
        let (first, mut rest) = rest.split_first()?;
        let mut length = usize::from(*first);
        if length >= 0x80 {
            let count = length & 0x7f;
            if count > 4 {
                return None;
            }
            let digits = rest.get(..count)?;
            length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
            rest = rest.get(count..)?;
        }
        let content = rest.get(..length)?;
        self.0 = rest.get(length..)?;
        (*tag == kind).then_some(content)
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};

    use super::*;

    #[track_caller]
    fn check(text: &str, salt: &str, expected: &str) {
        let lenient = GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireNone);
        let salt = GeneralPurpose::new(&BCRYPT, lenient).decode(salt).unwrap();
        assert_eq!(hash_with(6, salt.try_into().unwrap(), text), expected);
    }

    /// Vectors that OpenBSD's bcrypt is tested with.
    #[test]
    fn hashes_are_those_of_others() {
        check("", "DCq7YPn5Rq63x1Lad4cll.", "$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s.");
        check("a", "m0CrhHm10qJ3lXRY.5zDGO", "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe");
        check("abc", "If6bvum7DFjUnE9p2uDeDu", "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i");
    }
}
