use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Function, MANY, function};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    function("cidrhost", 2, 2, |_, a| {
        let net = Net::read(&a.text(0)?)?;
        let host = i128::from(a.whole(1)?);
        let hosts = net.size();
        let at = if host < 0 {
            hosts.and_then(|hosts| hosts.checked_sub(host.unsigned_abs()))
        } else {
            Some(host.unsigned_abs())
        };
        match at.filter(|at| hosts.is_none_or(|hosts| *at < hosts)) {
            Some(at) => Ok(net.address(net.bits | at).to_string().into()),
            None => Err(format!("{} has no host {host}", net.text())),
        }
    }),
    function("cidrnetmask", 1, 1, |_, a| {
        let net = Net::read(&a.text(0)?)?;
        if net.width != 32 {
            return Err("only IPv4 networks have a mask".to_owned());
        }
        Ok(net.address(net.mask()).to_string().into())
    }),
    function("cidrsubnet", 3, 3, |_, a| {
        let net = Net::read(&a.text(0)?)?;
        net.subnet(a.count(1)?, u128::try_from(a.whole(2)?).map_err(|_| "the number must not be negative")?)
            .map(|net| net.text().into())
    }),
    function("cidrsubnets", 1, MANY, |_, a| {
        let net = Net::read(&a.text(0)?)?;
        let mut out = Vec::new();
        let mut next = net.bits;
        for at in 1..a.all().len() {
            let length = net.longer(a.count(at)?)?;
            let step = Net { length, ..net }.size().unwrap_or(u128::MAX);
            let start = next.div_ceil(step).saturating_mul(step);
            if start & net.mask() != net.bits {
                return Err(format!("{} has no room for network {at}", net.text()));
            }
            out.push(Net { bits: start, length, ..net }.text().into());
            next = start.saturating_add(step);
        }
        Ok(Value::list(out))
    }),
];

/// A network in CIDR form, its host bits cleared.
#[derive(Debug, Clone, Copy)]
struct Net {
    bits: u128,
    length: u32,
    /// 32 or 128.
    width: u32,
}

impl Net {
    fn read(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is no network such as 10.0.0.0/8");
        let (address, length) = text.split_once('/').ok_or_else(bad)?;
        let (bits, width) = match address.parse::<IpAddr>().map_err(|_| bad())? {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        let length = length.parse::<u32>().ok().filter(|length| *length <= width).ok_or_else(bad)?;
        let net = Self { bits, length, width };
        Ok(Self { bits: bits & net.mask(), ..net })
    }

    fn mask(self) -> u128 {
        let all = u128::MAX.checked_shr(128 - self.width).unwrap_or(0);
        all & !all.checked_shr(self.length).unwrap_or(0)
    }

    /// How many addresses; `None` when they do not fit.
    fn size(self) -> Option<u128> {
        1_u128.checked_shl(self.width - self.length)
    }

    fn longer(self, by: usize) -> Result<u32, String> {
        let length = u32::try_from(by).ok().and_then(|by| self.length.checked_add(by));
        length
            .filter(|length| *length <= self.width)
            .ok_or_else(|| format!("{} cannot be made {by} bits longer", self.text()))
    }

    fn subnet(self, by: usize, number: u128) -> Result<Self, String> {
        let length = self.longer(by)?;
        let fits = 1_u128.checked_shl(length - self.length).is_none_or(|count| number < count);
        if !fits {
            return Err(format!("there is no network {number} with {by} more bits"));
        }
        Ok(Self { bits: self.bits | number.checked_shl(self.width - length).unwrap_or(0), length, ..self })
    }

    fn address(self, bits: u128) -> IpAddr {
        match u32::try_from(bits) {
            Ok(bits) if self.width == 32 => Ipv4Addr::from(bits).into(),
            _ => Ipv6Addr::from(bits).into(),
        }
    }

    fn text(self) -> String {
        format!("{}/{}", self.address(self.bits), self.length)
    }
}
